/**
 * Where the context of model steps comes from. A source is a text: a file or a pattern of files, `data:` and a
 * collection, a command that reads (with its parameters as JSON behind it), `code` for an outline of the project,
 * `memory` or `memory:` and a question. A source that cannot be read is no failure: it is left out, and why is said.
 */
import type { LeftOut } from '../../language/models/left-out.ts';
import { readJson } from '../../language/expression/json-text.ts';
import { textOf } from '../../language/expression/scope.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { withoutPictures } from '../../language/models/pictures.ts';
import { permissionOfCommand } from '../../language/permissions.ts';
import { findCommand } from '../../language/catalogue.ts';
import { rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { ContextPart } from '../../world/models/request/fit-context.ts';
import type { CommandList, Context } from '../../operations/command.ts';
import { fileMatcher, isFileGlob, projectFiles } from '../../world/files/project-files.ts';

export type Source = string | { name: string; value: Json };

export interface Gathered {
  parts: ContextPart[];
  leftOut: LeftOut[];
}

export interface Gathering {
  context: Context;
  /** Whoever wrote the sources may be a model. */
  byModel?: true;
}

/** The same with a model's rights: of commands only those that read the project, which know what a model may read. */
export const asModel = ({ context }: Gathering): Gathering => ({ context, byModel: true });

const called = ({ context, byModel }: Gathering, name: string, params: JsonObject): Promise<Json> =>
  context.call(name, params, byModel === true ? { confinement: { ...context.confinement, byModel } } : {});

const recordsMax = 50;
const memoriesMax = 10;
const filesMax = 100;
const outlinedMax = 2_000;

export async function gather(source: Source, at: Gathering): Promise<Gathered> {
  const name = typeof source === 'string' ? source.trim().replace(/^file:\s*/, 'file ') : source.name;
  try {
    return await read(source, at);
  } catch (error) {
    // Cancelled, or the store is away: not a matter of this source.
    if (!(error instanceof Failure) || error.code === 'STORE_UNAVAILABLE' || at.context.signal.aborted) throw error;
    return missing(name, error.message);
  }
}

const missing = (name: string, why: string): Gathered => ({ parts: [], leftOut: [{ name, why }] });

const part = (name: string, text: string): Gathered =>
  text.trim() === '' ? missing(name, 'it is empty') : { parts: [{ name, text }], leftOut: [] };

function read(source: Source, at: Gathering): Promise<Gathered> | Gathered {
  if (typeof source !== 'string') return part(source.name, textOf(withoutPictures(source.value)));
  const text = source.trim();
  const [, word = '', rest = ''] = /^(\S+)\s*([^]*)$/.exec(text) ?? [];
  if (text === '') return missing('a source', 'it is empty');
  if (/^memory(?::|$)/.test(text)) return remembered(text, text.slice('memory:'.length).trim(), at);
  if (text === 'code') return outline(rootOf(at.context));
  if (text.startsWith('data:')) return records(text, text.slice('data:'.length).trim(), at);
  if (findCommand(at.context.commands.catalogue, word) !== undefined) return commanded(text, word, rest, at);
  return files(text.replace(/^file:\s*/, ''), at);
}

async function outline(project: string): Promise<Gathered> {
  const { paths, isPart } = await projectFiles(project);
  const more = paths.length - outlinedMax;
  const end = more > 0 || isPart ? [`… and ${isPart ? 'many' : more} more`] : [];
  return part('code (the files of the project)', [...paths.slice(0, outlinedMax), ...end].join('\n'));
}

async function records(name: string, collection: string, at: Gathering): Promise<Gathered> {
  if (collection === '') return missing(name, 'it names no collection; write "data:COLLECTION"');
  const rows = await called(at, 'data/list', { collection, limit: recordsMax });
  return Array.isArray(rows) && rows.length > 0
    ? part(name, rows.map((row) => JSON.stringify(withoutPictures(row))).join('\n'))
    : missing(name, `collection "${collection}" has no records`);
}

/** What the persona of the run remembers, each memory with where it is from: the closest to a question, or the newest. */
async function remembered(name: string, query: string, at: Gathering): Promise<Gathered> {
  const found = await (query === ''
    ? called(at, 'memory/list', { limit: memoriesMax })
    : called(at, 'memory/recall', { query, limit: memoriesMax }));
  return Array.isArray(found) && found.length > 0
    ? part(name, found.map((one) => JSON.stringify(withoutPictures(one))).join('\n'))
    : missing(name, query === '' ? 'nothing is remembered' : 'nothing that is remembered is close to it');
}

/** Only what reads: a source is looked at before each pass, and nobody is asked about it. */
async function commanded(name: string, command: string, given: string, at: Gathering): Promise<Gathered> {
  const params = given === '' ? {} : readJson(given);
  if (!isJsonObject(params)) return missing(name, `what follows "${command}" is no JSON object of parameters`);
  if (at.byModel === true && !command.startsWith('code/'))
    return missing(
      name,
      `a recipe in a file may name only files, "data:" and commands that begin with "code/"; put "${command}" into "ragSources" of the definition`,
    );
  const permission = permissionOfCommand(at.context.commands.catalogue, command, params);
  if (permission !== 'read')
    return missing(
      name,
      `"${command}" needs the permission "${permission}", and a source may only read; make it a step, and refer to what it gives`,
    );
  const value = await called(at, command, params);
  return part(name, textOf(withoutPictures(textFieldOf(value, at.context.commands, command))));
}

function textFieldOf(value: Json, { catalogue }: CommandList, command: string): Json {
  const field = findCommand(catalogue, command)?.textField;
  return (isJsonObject(value) && field !== undefined ? value[field] : undefined) ?? value;
}

async function files(pattern: string, at: Gathering): Promise<Gathered> {
  if (!isFileGlob(pattern)) return file(pattern, at);
  const { paths, isPart } = await projectFiles(rootOf(at.context));
  const matches = fileMatcher(pattern);
  const found = paths.filter((path) => matches(path));
  if (found.length === 0)
    return missing(pattern, isPart ? 'no file fits among those that could be looked at' : 'no file fits');
  const gathered = await Promise.all(found.slice(0, filesMax).map((path) => gather(`file:${path}`, at)));
  const more = found.length - filesMax;
  return {
    parts: gathered.flatMap(({ parts }) => parts),
    leftOut: [
      ...gathered.flatMap(({ leftOut }) => leftOut),
      ...(more > 0 ? [{ name: pattern, why: `${more} more files fit, and ${filesMax} are read` }] : []),
    ],
  };
}

async function file(path: string, at: Gathering): Promise<Gathered> {
  const value = await called(at, 'code/read', { path });
  return part(`file ${path}`, isJsonObject(value) ? textOf(value['content']) : '');
}
