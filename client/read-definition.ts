/**
 * Definitions in files: reading one with all its problems, and finding those that its `$ref`s name:
 * beside it, then among the shipped ones. A file that cannot be read is a problem like any other.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { builtInCatalogue } from '../activities/commands/catalogue.ts';
import type { Catalogue } from '../language/catalogue.ts';
import type { ParamCheck } from '../language/params/param-check.ts';
import { definitionBytesMax } from '../language/limits.ts';
import type { Definition } from '../language/model.ts';
import type { Problem } from '../language/problems.ts';
import type { RefusedRefs } from '../language/read/checks/nesting.ts';
import { DEFINITION_ENDINGS, formatOf, readDefinitionText } from '../language/read/text/definition-text.ts';
import { parseDefinitionText, type ReadOptions } from '../language/read/definition.ts';
import { ownRoot } from '../services/config/package-root.ts';

/** Files of one folder that are looked into for a name. */
const filesSearchedMax = 500;

export interface DefinitionRead {
  /** Null when there are errors among the problems. */
  definition: Definition | null;
  problems: Problem[];
  inferred: string[];
  /** Who the file says owns the run. */
  persona?: string;
}

export type Known = (name: string) => Definition | undefined;

/** The commands there are, and what is known of their parameters. */
export interface Commands {
  catalogue: Catalogue;
  params?: ParamCheck;
}

/** What a definition may name: commands, and definitions, with what keeps one of a name from being one. */
export interface Named extends Commands {
  known: Known;
  refused: RefusedRefs;
}

export function readDefinitionFile(file: string, { catalogue, params, known, refused }: Named): DefinitionRead {
  return readWith(file, { ...commandsOf({ catalogue, params }), knownRefs: known, refusedRefs: refused });
}

/** As the options of reading a definition. */
export const commandsOf = ({
  catalogue,
  params,
}: {
  catalogue: Catalogue;
  params?: ParamCheck | undefined;
}): Commands => (params === undefined ? { catalogue } : { catalogue, params });

function readWith(file: string, options: ReadOptions): DefinitionRead {
  const read = readText(file);
  if ('problem' in read) return { definition: null, problems: [read.problem], inferred: [] };
  const { inferred, ...rest } = parseDefinitionText(read.text, options, formatOf(file));
  const problems = rest.problems.map((problem) =>
    problem.line === undefined ? problem : { ...problem, file: relative('.', file) },
  );
  if (!rest.ok) return { definition: null, problems, inferred };
  return {
    definition: rest.definition,
    problems,
    inferred,
    ...(rest.persona === undefined ? {} : { persona: rest.persona }),
  };
}

/** Definitions that files hold, by name. `folders` are searched in order, below them too where `deep`. */
export class DefinitionFiles implements Named {
  readonly catalogue: Catalogue;
  readonly params?: ParamCheck;
  readonly #folders: readonly { path: string; deep: boolean }[];
  readonly #found = new Map<string, string | null>();
  readonly #names = new Map<string, string | null>();
  readonly #read = new Map<string, DefinitionRead>();

  constructor({ catalogue, params }: Commands, folders: readonly { path: string; deep: boolean }[]) {
    this.catalogue = catalogue;
    if (params !== undefined) this.params = params;
    this.#folders = folders;
  }

  readonly known: Known = (name) => {
    const file = this.find(name);
    return file === null ? undefined : (this.#readOnce(file).definition ?? undefined);
  };

  /** What keeps the file of that name from being a definition. */
  readonly refused: RefusedRefs = (name) => {
    const file = this.find(name);
    if (file === null) return undefined;
    const { definition, problems } = this.#readOnce(file);
    return definition === null ? { where: relative('.', file), problems } : undefined;
  };

  /** The file called `name` with one of the endings of definitions, or the one whose definition is named so. */
  find(name: string): string | null {
    const before = this.#found.get(name);
    if (before !== undefined) return before;
    const found = this.#search(name);
    this.#found.set(name, found);
    return found;
  }

  /** Names under which something would be found, for suggestions. */
  names(): string[] {
    return this.#folders.flatMap(definitionFilesIn).map(bareName);
  }

  #readOnce(file: string): DefinitionRead {
    const read = this.#read.get(file) ?? readLeniently(file, commandsOf(this));
    this.#read.set(file, read);
    return read;
  }

  #search(name: string): string | null {
    for (const folder of this.#folders) {
      const files = definitionFilesIn(folder);
      const found = files.find((file) => bareName(file) === name) ?? files.find((file) => this.#nameOf(file) === name);
      if (found !== undefined) return found;
    }
    return null;
  }

  #nameOf(file: string): string | null {
    let name = this.#names.get(file);
    if (name === undefined) {
      name = nameIn(file);
      this.#names.set(file, name);
    }
    return name;
  }
}

const builtIn = (): Commands => ({ catalogue: builtInCatalogue() });

/** The folder a file lies in, and the definitions that come with this package. */
export function filesAround(file: string, commands: Commands = builtIn(), packageRoot = ownRoot): DefinitionFiles {
  return new DefinitionFiles(commands, [{ path: dirname(file), deep: false }, definitionsOf(packageRoot)]);
}

/** A project's own definitions, and those that come with this package. */
export function filesOfProject(project: string, commands: Commands = builtIn()): DefinitionFiles {
  return new DefinitionFiles(commands, [definitionsOf(project), definitionsOf(ownRoot)]);
}

function definitionsOf(root: string): { path: string; deep: boolean } {
  return { path: join(root, 'sentinels'), deep: true };
}

/** What a file that stands beside definitions is, by its name; null when it may well be one. */
export function otherThan(file: string): string | null {
  if (file.endsWith('.sentinel-test.json')) return 'a test of a definition, which "sentinel test" runs';
  return file.endsWith('.schema.json') ? 'a JSON Schema' : null;
}

/** By its ending alone. */
export function isDefinitionFile(file: string): boolean {
  return DEFINITION_ENDINGS.some((ending) => file.endsWith(ending));
}

/** `deploy` of `sentinels/deploy.yaml`. */
function bareName(file: string): string {
  return basename(
    file,
    DEFINITION_ENDINGS.find((ending) => file.endsWith(ending)),
  );
}

function definitionFilesIn(folder: { path: string; deep: boolean }): string[] {
  let entries: string[];
  try {
    entries = readdirSync(folder.path, { recursive: folder.deep, encoding: 'utf8' });
  } catch {
    // A folder that is not there holds no definitions.
    return [];
  }
  return entries
    .filter((entry) => isDefinitionFile(entry) && otherThan(entry) === null)
    .toSorted()
    .slice(0, filesSearchedMax)
    .map((entry) => join(folder.path, entry));
}

function nameIn(file: string): string | null {
  const read = readText(file);
  if ('problem' in read) return null;
  // What is neither holds no definition that can be meant.
  const text = readDefinitionText(read.text, formatOf(file));
  const value = text.ok ? text.value : null;
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
    ? value.name
    : null;
}

const anything: Known = (name) => ({ name, steps: [], loop: { type: 'once' } });

/** What a referenced definition itself refers to, and whether its loops are bounded, is checked by whoever follows the references. */
function readLeniently(file: string, commands: Commands): DefinitionRead {
  return readWith(file, { ...commands, knownRefs: anything, isBounded: true });
}

function readText(file: string): { text: string } | { problem: Problem } {
  try {
    if (statSync(file).isDirectory()) return unreadable(`${file} is a folder; give the path of a file`);
    const bytes = readBounded(file, definitionBytesMax + 1);
    if (bytes.length > definitionBytesMax) {
      const message = `${file} is larger than the ${definitionBytesMax} bytes a definition may have: keep data in files or in the store`;
      return { problem: { code: 'TOO_LARGE', severity: 'error', path: '', message } };
    }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return unreadable(`${file} ${reasonOf(error)}`);
  }
}

function unreadable(message: string): { problem: Problem } {
  return { problem: { code: 'FILE_NOT_READABLE', severity: 'error', path: '', message } };
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist; check the path';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read; check its permissions';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text; save it as UTF-8';
  return `cannot be read (${error instanceof Error ? error.message : String(error)})`;
}

/** Never more than `bytesMax`, whatever the file says of its size. */
function readBounded(file: string, bytesMax: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(bytesMax);
    let length = 0;
    while (length < bytesMax) {
      const count = readSync(descriptor, buffer, length, bytesMax - length, null);
      if (count === 0) break;
      length += count;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
