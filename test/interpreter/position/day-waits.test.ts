/** Lines of a run that wait for a day in which its persona has budget. */
import { expect, test } from 'vitest';
import { waitForDay, waitInModel } from '../../../interpreter/day-budget.ts';
import { drive } from '../../../interpreter/drive.ts';
import type { Host, Strand } from '../../../interpreter/host.ts';
import { firstPosition } from '../../../interpreter/position.ts';
import type { Walk } from '../../../interpreter/walk-state.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';

const strand = { within: null } as unknown as Strand;
type DayEnd = Awaited<ReturnType<Host['awaitDay']>>;

/** A run whose waits end as the test says, by key. */
function waitingRun() {
  const events: RunEvent[] = [];
  const ends = new Map<string, (end: DayEnd) => void>();
  const tells = new Map<string, (until: number) => void>();
  const host = {
    now: () => 1_000,
    record: (event: RunEvent) => void events.push(event),
    awaitDay: (_strand: Strand, key: string, tell: (until: number, why: string) => void) => {
      tells.set(key, (until) => tell(until, 'spent'));
      return new Promise<DayEnd>((resolve) => void ends.set(key, resolve));
    },
  };
  const walk = { input: { persona: 'day-ai' }, position: firstPosition(0), host } as unknown as Walk;
  const said = () => events.map((event) => ('message' in event ? event.message : event.type));
  const tell = (key: string, until: number): void => tells.get(key)?.(until);
  const end = (key: string, by: DayEnd): void => ends.get(key)?.(by);
  return { walk, said, tell, end };
}

const ignore = (): void => undefined;

test.each(['cancel', 'stop'] as const)('by %s a line waits no more, and that is said', async (by) => {
  const { walk, said, tell, end } = waitingRun();
  const waits = drive(waitForDay(walk, strand, 'steps.0@1', {}), ignore);
  tell('steps.0@1', 9_000);
  end('steps.0@1', by);
  expect(await waits).toBe(by);
  expect(said()).toEqual([expect.stringContaining('until 1970-01-01T00:00:09.000Z'), 'steps.0@1 waits no more']);
});

test('a call that goes on elsewhere waits for the day there, also where one beside it went on', async () => {
  const { walk, tell, end } = waitingRun();
  const open: { restsUntil?: number; awaitsDay?: true } = {};
  const [first, second] = ['a', 'b'].map((key) => drive(waitInModel(walk, strand, key, open), ignore));
  tell('a', 9_000);
  tell('b', 9_000);
  end('a', 'go');
  expect(await first).toBe('go');
  tell('b', 9_500);
  end('b', 'yield');
  expect(await second).toBe('yield');
  expect(open).toEqual({ restsUntil: 9_500, awaitsDay: true });
});
