/** The model that layers were made for, on this machine: the same content, whatever it is called. */
import { statSync } from 'node:fs';
import { hashOfFile } from '../../world/models/local/file-hash.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Context } from '../../operations/command.ts';
import type { Training } from '../../operations/training.ts';
import { runTrainer } from './trainer.ts';

export interface AtBase {
  /** As steps name it. */
  asked: string;
  path: string;
  hash: string;
}

/** A model in a file of this machine, as steps name it; or why there is none. */
export const modelNamed = (
  asked: string,
  { run, confinement, signal, worker }: Context,
): ReturnType<Training['base']> =>
  worker.training.base(asked, { project: run.project, byModel: confinement?.byModel === true, signal });

/** Throws `LAYER_BASE_MISSING` where the name stands for no model here, or for one of other content. */
export async function requireBase(
  asked: string,
  { base: wanted }: { base: string },
  context: Context,
): Promise<AtBase> {
  const found = await modelNamed(asked, context);
  const help = 'name the model that they were made for as "baseModel"';
  if ('fault' in found)
    throw new Failure('LAYER_BASE_MISSING', `the model "${asked}" of the layers is not here: ${found.fault}; ${help}`);
  const hash = statSync(found.path).isDirectory()
    ? await folderHash(found.path, context)
    : await hashOfFile(found.path);
  if (hash !== wanted)
    throw new Failure(
      'LAYER_BASE_MISSING',
      `the layers were made for another model (${wanted.slice(0, 12)}) than "${asked}" is here (${hash.slice(0, 12)}); ${help}`,
    );
  return { asked, path: found.path, hash };
}

/** Only the trainer knows what a folder of weights is, and nothing else uses one. */
async function folderHash(path: string, context: Context): Promise<string> {
  const { hash } = await runTrainer({ args: ['inspect', path] }, context);
  return typeof hash === 'string' ? hash : '';
}
