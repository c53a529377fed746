/**
 * Trainings that are not over, for whoever wants what comes of them:
 *
 * - U1 A training is over when its command has failed or its step was cut off, when its gate has refused its layer, when its run says what a persona
 *      uses, or when its run has ended: what follows it there registers the layer and has a persona use it.
 * - U2 A run with a training that is not over, its own or that of a run in which it is nested, waits for no training: no two
 *      runs wait for each other.
 * - U3 A layer that is there is used, also while another one of its name is in training.
 */
import * as z from 'zod';
import type { Context } from '../../operations/command.ts';
import { reads } from './store.ts';

type State = 'training' | 'trained' | 'failed';

/** A layer, or a list of them, is asked for again after a twentieth of the time that its training has taken, within these bounds. */
const [waitMinMs, waitMaxMs, ageShare] = [5_000, 60_000, 20];
const nestedMax = 100;

/** It is asked for again then. */
export const Later = z.strictObject({ waitMs: z.number().positive(), because: z.string() });
export type Later = z.infer<typeof Later>;

/** Says at once, beside the transaction of the step, how its training stands. */
export const sayTraining = (name: string, state: State, { store, run, key }: Context): Promise<void> =>
  written(
    store,
    `insert into genome_trainings (handle, key, name, persona, state) values ($1, $2, $3, $4, $5)
     on conflict (handle, key) do update set state = excluded.state`,
    [run.handle, key, name, run.persona, state],
  );

/** That nothing comes of what the run has trained under this name; also where the step fails that says so. */
export const sayOver = (name: string, { store, run }: Context): Promise<void> =>
  written(store, "update genome_trainings set state = 'over' where handle = $1 and name = $2 and state = 'trained'", [
    run.handle,
    name,
  ]);

async function written(store: Context['store'], sql: string, values: readonly string[]): Promise<void> {
  const session = store.session();
  try {
    await session.write(sql, values);
    await session.end();
  } finally {
    await session.close();
  }
}

/** Of a layer that is not there: null where nobody trains it. */
export const laterLayer = (name: string, context: Context): Promise<Later | null> =>
  later('name', name, `the layer "${name}" is in training`, context);

/** Of what a persona uses: null where none of its trainings is under way. */
export const laterGenome = (persona: string, context: Context): Promise<Later | null> =>
  later('persona', persona, `a training of "${persona}" is not over`, context);

/** Nobody says of a step that was cut off that it has failed; the run has its end among its events. */
const NOT_OVER = `(t.state = 'trained' or t.state = 'training' and not exists (
  select from run_events e where e.handle = t.handle and e.type = 'step-finished' and e.event ->> 'key' = t.key))`;

async function later(by: 'name' | 'persona', value: string, because: string, context: Context): Promise<Later | null> {
  const [found] = await reads(context)<{ handle: string; ageMs: number }>(
    `select t.handle, (extract(epoch from now() - t.at) * 1000)::double precision as "ageMs"
     from genome_trainings t join runs r on r.handle = t.handle
     where t.${by} = $1 and r.outcome is null and ${NOT_OVER} order by t.at desc limit 1`,
    [value],
  );
  if (found === undefined || (await trainsItself(context))) return null;
  const waitMs = Math.round(Math.min(waitMaxMs, Math.max(waitMinMs, found.ageMs / ageShare)));
  return { waitMs, because: `${because} (run ${found.handle})` };
}

async function trainsItself(context: Context): Promise<boolean> {
  const own = await reads(context)(
    `select 1 from genome_trainings t where t.handle = any($1::text[]) and ${NOT_OVER} limit 1`,
    [[...(await runsAbove(context))]],
  );
  return own.length > 0;
}

/** The run that asks, and those in which it is nested. */
async function runsAbove({ store, run }: Context): Promise<Set<string>> {
  const above = new Set<string>();
  for (let at: string | null = run.handle; at !== null && above.size < nestedMax;) {
    above.add(at);
    at = (await store.runs.find(at))?.parent ?? null;
  }
  return above;
}
