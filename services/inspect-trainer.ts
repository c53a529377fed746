/** `sentinel trainer doctor`: whether the trainer is installed, and what it says of itself. */
import * as z from 'zod';
import type { DoctorEntry } from './doctor-entry.ts';
import { ServicesError } from './config/services-error.ts';
import { runToEnd } from './processes/run-to-end.ts';
import { trainerEnvironment, trainerVariables, type TrainerEnvironment } from './trainer/environment.ts';

/** The libraries take seconds to load, and a busy machine many. */
const SAID_MAX_MS = 5 * 60_000;
const INSTALL = '"sentinel trainer install" installs it.';

const Check = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string().nullable(),
  remedy: z.string().optional(),
  notice: z.string().optional(),
});
const Said = z.object({ event: z.literal('doctor'), ok: z.boolean(), python: z.string(), checks: z.array(Check) });

/** Whether it is there, without starting it: an entry that is well either way, since only training needs it. */
export function trainerEntry(cacheDir: string): DoctorEntry {
  const entry = { name: 'trainer', ok: true, where: null, version: null };
  const environment = environmentOf(cacheDir);
  if (environment instanceof ServicesError) return { ...entry, found: environment.message };
  if (environment.installed !== null)
    return { ...entry, found: `installed by ${environment.installed.by}`, where: environment.folder };
  const found = environment.isUnfinished ? 'installed in part' : 'not installed';
  return { ...entry, found, remedy: `${INSTALL} Only training needs it.` };
}

function environmentOf(cacheDir: string): TrainerEnvironment | ServicesError {
  try {
    return trainerEnvironment(cacheDir);
  } catch (error) {
    if (error instanceof ServicesError) return error;
    throw error;
  }
}

/** The environment, its packages, the accelerator, and with a base model how it reads numbers. */
export async function inspectTrainer(
  cacheDir: string,
  { env = process.env, model }: { env?: NodeJS.ProcessEnv; model?: string } = {},
): Promise<DoctorEntry[]> {
  const environment = trainerEnvironment(cacheDir);
  const entry = trainerEntry(cacheDir);
  if (environment.installed === null) return [{ ...entry, ok: false, remedy: INSTALL }];
  try {
    const said = await askDoctor(environment, env, model);
    return [{ ...entry, version: said.python }, ...said.checks.map(entryOf)];
  } catch (error) {
    const found = `it does not run: ${error instanceof Error ? error.message : String(error)}`;
    return [{ ...entry, ok: false, found, remedy: '"sentinel trainer install --again" installs it anew.' }];
  }
}

async function askDoctor(environment: TrainerEnvironment, env: NodeJS.ProcessEnv, model?: string) {
  const asked = model === undefined ? [] : ['--base', model];
  // It ends with 1 where something is missing, and says what on its last line all the same.
  const script = 'import sys; from sentinel_trainer.cli import main; main(sys.argv[1:])';
  const said = await runToEnd(environment.python, ['-c', script, 'doctor', ...asked], {
    timeoutMs: SAID_MAX_MS,
    env: trainerVariables(environment, env),
  });
  const last: unknown = JSON.parse(said.trim().split('\n').at(-1) ?? '');
  const failed = z.object({ event: z.literal('failed'), message: z.string() }).safeParse(last);
  if (failed.success) throw new Error(failed.data.message);
  return Said.parse(last);
}

const entryOf = ({ name, ok, found, remedy, notice }: z.infer<typeof Check>): DoctorEntry => ({
  name: `trainer: ${name}`,
  ok,
  found: [found ?? 'not there', ...(notice === undefined ? [] : [notice])].join('; '),
  where: null,
  version: null,
  ...(remedy === undefined ? {} : { remedy }),
});
