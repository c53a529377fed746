/** kill -9 of the worker while a question waits: its reminder is a timer of the run, and comes once a worker is back. */
import { setTimeout as passed } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../../../language/events/run-event.ts';
import { once } from '../../harness/definitions.ts';
import { until } from '../../harness/harness.ts';
import { useHarnesses } from '../../harness/opened.ts';

const openHarness = useHarnesses();

const remindAfterMs = 3_000;

const reminded = (events: readonly RunEvent[]) => events.filter((event) => event.type === 'reminded');

test('a reminder outlasts its worker, is shown, and does not come after the answer', async () => {
  const harness = await openHarness();
  const first = await harness.startWorker();
  const handle = await harness.start(
    once('asks', [
      { type: 'approval', message: 'Go on?', remindAfterMs },
      // Longer than until the next reminder would be due.
      { type: 'sleep', durationMs: 3 * remindAfterMs },
    ]),
  );
  await harness.untilEvent(handle, (event) => event.type === 'asked');
  await first.kill9();
  // By then a second one is due, too.
  await passed(4 * remindAfterMs);
  await harness.startWorker();
  await until(async () => reminded(await harness.events(handle)).length > 0);
  const [item] = await harness.store.inbox.list({ handle });
  expect(item).toMatchObject({ state: 'open', message: 'Go on?', choices: ['approve', 'reject', 'abort'] });
  expect(item?.reminders).toBeGreaterThan(0);
  const listed = await harness.command('inbox');
  expect(listed.out).toMatch(/asked \d{4}-.*, reminded (?:once|\d times)/);
  expect(await harness.command('answer', handle, 'approve')).toMatchObject({ code: 0 });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  const events = await harness.events(handle);
  const answered = events.findIndex(({ type }) => type === 'answered');
  const times = reminded(events);
  expect(events.findLastIndex(({ type }) => type === 'reminded')).toBeLessThan(answered);
  expect(times.map((event) => event.type === 'reminded' && event.question.reminders)).toEqual(
    times.map((_, index) => index + 1),
  );
  const waits = times.slice(1).map(({ at }, index) => at - (times[index]?.at ?? at));
  expect(waits.filter((wait, index) => wait < remindAfterMs * 2 ** (index + 1))).toEqual([]);
  const { out: trace } = await harness.command('trace', handle);
  expect(trace).toMatch(/\? steps\.0@1 still asks tester, after \d/);
  const { out: published } = await harness.command('events', `sentinel:${handle}:reminded`, '--json');
  expect(published).toMatch(/"reminders": 1\b/);
});
