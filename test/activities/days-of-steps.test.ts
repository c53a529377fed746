/** The budget of a day where steps begin: in segments, and behind the rate limit of a tool. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DayBudgets } from '../../activities/limits/day-budgets.ts';
import { Limiter } from '../../activities/limits/limiter.ts';
import { quickSteps, type QuickSteps } from '../../activities/segment/quick-steps.ts';
import { runSegment } from '../../activities/segment/run-segment.ts';
import { performCommand } from '../../activities/steps/perform-command.ts';
import type { RunInput } from '../../interpreter/host.ts';
import { dayAt } from '../../language/references/days.ts';
import { noSecrets } from '../../operations/secrets/secrets.ts';
import { WaitingRows } from '../../prisma/store/contract/session-contract.ts';
import { builtInRegistry } from '../../systems/built-in.ts';
import { runInputOf } from '../../workflows/messages/start-input.ts';
import { catalogue } from '../catalogue.ts';
import { create, list, once } from '../server/harness/definitions.ts';
import { useStore } from '../store/harness/opened.ts';
import { commandContext } from './harness/command-context.ts';
import { segmentRequest } from './harness/segment-request.ts';

const opened = useStore();
const registry = builtInRegistry();

async function budget(persona: string, steps: number): Promise<DayBudgets> {
  await opened.database.query(
    `insert into limits_of_personas (persona, steps_a_day, time_zone, set_by) values ($1, $2, 'UTC', 'ada')`,
    [persona, steps],
  );
  return new DayBudgets(opened.store.personaDays);
}

const today = (): { date: string; from: number } => dayAt(Date.now(), 'UTC');
const used = async (persona: string): Promise<number> => (await opened.store.personaDays.used(persona, today())).steps;

const stepsOf = (days: DayBudgets, limiter?: Limiter): QuickSteps =>
  quickSteps({
    store: opened.store,
    registry,
    runs: commandContext('/').runPort,
    limiter,
    days,
    around: undefined,
  });

function inputOf(persona: string): RunInput {
  const definition = once('held', [create('held', { n: 1 }), list('held', 'found'), create('held', { n: 2 })]);
  return runInputOf({ definition, catalogue, project: '/', persona }, `of-${persona}`, 0);
}

test('while a segment lasts, its count is in nobody’s way, and it is there with the commit', async () => {
  const quick = stepsOf(await budget('locks-ai', 50));
  const input = inputOf('locks-ai');
  const others: unknown[] = [];
  await runSegment(
    {
      store: opened.store,
      quick: {
        async perform(...asked) {
          const reply = await quick.perform(...asked);
          const another = opened.store.personaDays.beginStep('locks-ai', today().date, 50);
          others.push(await Promise.race([another, sleep(1_000, 'waits for the segment')]));
          return reply;
        },
      },
      recorded: () => Promise.resolve(),
    },
    input,
    segmentRequest(input, 'steps.0@1'),
    { attempt: 1 },
  );
  // On a machine that is busy it ends before its third step.
  expect(others.length).toBeGreaterThan(0);
  expect(others).toEqual(others.map(() => true));
  expect(await used('locks-ai')).toBe(2 * others.length);
});

test('a step that a rate limit holds back is not counted until it begins', async () => {
  const days = await budget('rated-ai', 50);
  const limiter = new Limiter({ providers: {}, tools: { 'data/list': { perMinute: 1 } } }, opened.store.limits);
  const quick = stepsOf(days, limiter);
  const [rows, session] = [new WaitingRows(), opened.store.session()];
  const params = { collection: 'rated' };
  const effect = { type: 'command', command: 'data/list', params, label: 'data/list', timeoutMs: 1_000 } as const;
  const attempt = (key: string) => quick.perform(inputOf('rated-ai'), session, { ...effect, key }, rows);
  await attempt('steps.0@1');
  for (const key of ['steps.1@1', 'steps.1#2@1'])
    await expect(attempt(key)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await session.close();
  expect(rows.all).toHaveLength(1);

  const context = { ...commandContext('/'), store: opened.store, secrets: noSecrets(), attempt: 1 };
  const parts = { store: opened.store, registry, checkpoints: null, limiter, days };
  const asked = { command: 'data/list', params };
  const run = { ...context.run, persona: 'rated-ai' };
  const held = performCommand(parts, asked, { ...context, run, key: 'steps.2@1' });
  await expect(held).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(await used('rated-ai')).toBe(0);
});

test('what is spent is not asked of the limiter, and a quick step begins as soon as there is more', async () => {
  const days = await budget('raised-ai', 2);
  const limiter = new Limiter({ providers: {}, tools: { 'persona/list': { perMinute: 2 } } }, opened.store.limits);
  const quick = stepsOf(days, limiter);
  const [rows, session] = [new WaitingRows(), opened.store.session()];
  const effect = { type: 'command', command: 'persona/list', label: 'persona/list', timeoutMs: 1_000 } as const;
  const attempt = (n: number) =>
    quick.perform(inputOf('raised-ai'), session, { ...effect, key: `steps.${n}@1`, params: {} }, rows);
  await attempt(0);
  await attempt(1);
  await expect(attempt(2)).rejects.toMatchObject({ code: 'PERSONA_BUDGET_SPENT' });
  await opened.database.query(`update limits_of_personas set steps_a_day = 3 where persona = 'raised-ai'`);
  await expect(attempt(3)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await session.close();
});
