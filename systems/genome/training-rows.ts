/** The rows of a training and of its gate, as copies: what is trained and what is asked stays as it was, whatever becomes of the files. */
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Context } from '../../operations/command.ts';
import { accessOf, resolveInside } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { hashOf, type Places } from './places.ts';

/** Where data sets are made of runs, in the project. */
const MADE_IN = 'datasets';
/** Of what models answered in runs. */
const PARTS = { validation: 0.1, gate: 0.3 };
const markChars = 12;

export interface AskedRows {
  dataset?: string | undefined;
  fromRuns?: string | undefined;
  gate?: string | undefined;
  /** Of the layer. */
  name: string;
}

export interface Rows {
  /** The hash of the data set, or of the file. */
  dataset: string;
  training: string;
  validation: string | null;
  heldOut: string | null;
  gateQuestions: number;
}

interface Archive {
  name: string;
  path: string;
  hash: string;
  parts: { [part in 'train' | 'validation' | 'gate']: { file: string; rows: number; sha256: string } };
}

export async function rowsOf(given: AskedRows, context: Context, places: Places): Promise<Rows> {
  const { gate, fromRuns } = given;
  const dataset = given.dataset ?? (await madeOfRuns(fromRuns ?? '', given, context));
  const asked = gate === undefined ? null : await fileRows(gate, context, places);
  if (dataset.endsWith('.jsonl')) {
    const training = await fileRows(dataset, context, places);
    return {
      dataset: training,
      training,
      validation: null,
      heldOut: asked,
      gateQuestions: asked === null ? 0 : countOf(places.rows(asked)),
    };
  }
  const archive = await archiveOf(dataset, context);
  const part = async (name: keyof Archive['parts']): Promise<string | null> => {
    const { file, rows, sha256 } = archive.parts[name];
    if (rows === 0) return null;
    const kept = await places.keepRows(join(archive.path, file), context.signal);
    if (kept === sha256) return kept;
    throw refusedData(`${file} of the data set "${dataset}" is not as its dataset.json says; make the data set again`);
  };
  const [training, validation, own] = [await part('train'), await part('validation'), await part('gate')];
  if (training === null) throw refusedData(`the data set "${dataset}" has no rows to train on`);
  const heldOut = asked ?? own;
  const gateQuestions = heldOut === null ? 0 : countOf(places.rows(heldOut));
  return { dataset: archive.hash, training, validation, heldOut, gateQuestions };
}

const countOf = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;

const refusedData = (finding: string): Failure => new Failure('TRAINING_DATA_REFUSED', finding);

async function fileRows(path: string, context: Context, places: Places): Promise<string> {
  const file = resolveInside(context.run.project, path, accessOf(context));
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw refusedData(`there is no file "${path}"`);
  return places.keepRows(file, context.signal);
}

async function archiveOf(dataset: string, context: Context): Promise<Archive> {
  const path = dirname(dataset.replace(/\/+$/, ''));
  const { archives } = (await context.call('ai/dataset/list', { path })) as unknown as { archives: Archive[] };
  const found = archives.find(({ name }) => name === basename(dataset));
  if (found === undefined) throw refusedData(`there is no data set "${dataset}"; "ai/dataset/create" makes one`);
  return found;
}

/** Of the step alone, so that an attempt after this one goes on with the same rows, whatever has run meanwhile. */
async function madeOfRuns(runs: string, { name, gate }: AskedRows, context: Context): Promise<string> {
  const { run, key } = context;
  const made = `runs-${name.slice(0, 60)}-${hashOf(`${run.handle} ${key}`).slice(0, markChars)}`;
  const { archives } = (await context.call('ai/dataset/list', { path: MADE_IN })) as unknown as { archives: Archive[] };
  if (archives.every((one) => one.name !== made)) {
    const parts = gate === undefined ? PARTS : { ...PARTS, gate: 0 };
    await context.call('ai/dataset/create', { samples: { name: runs }, outputPath: MADE_IN, name: made, parts });
  }
  return join(MADE_IN, made);
}
