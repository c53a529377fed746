/** What the database says that somebody should know of: what is left alone for its failures, and whom nobody could tell. */
import type { Store } from '../prisma/store/contract/contract.ts';
import type { CircuitState } from '../prisma/store/contract/models/limit-contract.ts';
import type { HeldCursor } from '../prisma/store/contract/cursor-contract.ts';
import type { HeldTask } from '../prisma/store/contract/system-contract.ts';
import type { DoctorEntry } from './doctor-entry.ts';

/** Empty where the database does not answer, or has not the tables of this version. */
export async function circuitStates(url: string | null): Promise<CircuitState[]> {
  return (await asked(url, ({ limits }) => limits.circuits())) ?? [];
}

/** An entry for each circuit that is not closed; one for messages that were given up, where there are any. */
export async function inspectRows(url: string | null): Promise<DoctorEntry[]> {
  const circuits = (await circuitStates(url)).filter(({ state }) => state !== 'closed');
  const givenUp = await asked(url, ({ notifications }) => notifications.givenUp());
  const held = (await asked(url, ({ cursors }) => cursors.held())) ?? [];
  const tasks = (await asked(url, ({ systems }) => systems.heldTasks())) ?? [];
  return [
    ...circuits.map(entryOf),
    ...held.map(heldEntry),
    ...tasks.map(heldTaskEntry),
    ...(givenUp === null || givenUp.count === 0 ? [] : [givenUpEntry(givenUp)]),
  ];
}

function entryOf(circuit: CircuitState): DoctorEntry {
  return {
    name: circuit.subject.replace(':', ' '),
    // Runs wait for it, or say so.
    ok: true,
    found: circuitWords(circuit),
    where: null,
    version: null,
    remedy: 'See what it failed of; "limits.breaker" of sentinel.config says when it is left alone, and for how long.',
  };
}

function heldEntry({ name, position, attempts, notBefore, failure }: HeldCursor): DoctorEntry {
  return {
    name,
    ok: false,
    found: `failed ${attempts} times at the event after ${position}, and is tried again at ${new Date(notBefore).toISOString()}: ${failure}`,
    where: null,
    version: null,
    remedy:
      'Correct what it failed of (a command of yours, then run "sentinel up" in the project); the event waits, and those behind it.',
  };
}

function heldTaskEntry({ system, task, attempts, notBefore, failure }: HeldTask): DoctorEntry {
  return {
    name: `background ${system}/${task}`,
    ok: false,
    found: `failed ${attempts} times, and is tried again at ${new Date(notBefore).toISOString()}: ${failure}`,
    where: null,
    version: null,
    remedy: 'Correct its command and run "sentinel up" in the project.',
  };
}

function givenUpEntry({
  count,
  finding,
  url,
}: {
  count: number;
  finding: string | null;
  url: string | null;
}): DoctorEntry {
  const { origin } = new URL(url ?? 'http://unknown');
  return {
    name: 'notifications',
    ok: false,
    found: `${count} of the last week could not be sent within a day; the last to ${origin}: ${finding ?? ''}`,
    where: null,
    version: null,
    remedy:
      'Correct "notify" of sentinel.config, or what receives there; "sentinel inbox" and "incidents" show what was not told.',
  };
}

export async function asked<Result>(
  url: string | null,
  ask: (store: Store) => Promise<Result>,
): Promise<Result | null> {
  if (url === null) return null;
  // Whoever asks without a database need not wait until the store is loaded.
  const { openStore } = await import('../prisma/store/open-store.ts');
  const store = openStore({ url, poolSize: 1 });
  try {
    return await ask(store);
  } catch {
    return null;
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** How a circuit breaker stands, in words. */
export function circuitWords({ state, failures, openUntil, finding }: CircuitState): string {
  const until = openUntil === null ? '' : new Date(openUntil).toISOString();
  const held = state === 'open' ? `not called until ${until}` : 'the next request tests whether it answers again';
  return `${state === 'closed' ? 'called as usual' : held}, after ${failures} failures in a row: ${finding}`;
}
