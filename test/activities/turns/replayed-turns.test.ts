/** Turns that are answered from what was recorded of others: answers, refusals, summaries, and models that were not found. */
import { expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Delta } from '../../../world/models/port/turn.ts';
import type { Models } from '../../../world/models/open-models.ts';
import { Shelf } from '../../../activities/turns/cassettes/shelf.ts';
import { keepCallResult } from '../../../activities/turns/call-result.ts';
import { runTurn } from '../../../activities/turns/run-turn.ts';
import { putCassette } from '../../../client/cassettes/stored-cassette.ts';
import { recordCassette } from '../../../client/cassettes/recorded-cassette.ts';
import type { TurnRequest } from '../../../interpreter/contract.ts';
import type { TurnOutcome } from '../../../interpreter/effect.ts';
import { useStore } from '../../store/harness/opened.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed } from '../../models/wires/wire.ts';
import type { Reply } from '../../models/wires/double.ts';
import { say, useModels } from '../harness/asked-models.ts';
import { defined } from '../../../language/defined.ts';

const opened = useStore();
const asking = useModels();
const registry = builtInRegistry();
const MODEL = 'openai/some-model';

const recorded = { handle: '4d6f1c0e-8c55-4a06-b1ac-0d5f0a3f1111', project: '/srv/recorded' };
const replayed = { handle: '77777777-8c55-4a06-b1ac-0d5f0a3f2222', project: '/srv/replayed' };

type Run = typeof recorded;

class Turns {
  readonly run: Run;
  readonly #models: Models | null;
  readonly #shelf: Shelf;
  /** What followers of the run hear, by kind. */
  readonly said: { [kind: string]: string } = {};

  constructor(run: Run, models: Models | null) {
    this.run = run;
    this.#models = models;
    this.#shelf = new Shelf(opened.store);
  }

  take(request: Partial<TurnRequest>, asker = `turn.${request.turn ?? 1}`): Promise<TurnOutcome> {
    const { turn = 1 } = request;
    return runTurn(
      { store: opened.store, registry, models: this.#models, shelf: this.#shelf },
      {
        conversation: 'steps.0@1',
        turn,
        model: MODEL,
        say: [],
        answers: [],
        tools: ['code/read'],
        settings: {},
        tokensBefore: 0,
        ...(turn === 1 ? { opening: { messages: [], images: [], prompt: `Look at ${this.run.project}/a.txt` } } : {}),
        ...request,
      },
      {
        run: this.run,
        asker,
        attempt: 'one',
        timeoutMs: 60_000,
        signal: new AbortController().signal,
        live: this.#live(),
      },
    );
  }

  #live(): NonNullable<Parameters<typeof runTurn>[2]['live']> {
    const hear = (delta: Delta): void => {
      const said = delta.type === 'tool-call' ? delta.arguments : delta.text;
      const kind = delta.type === 'tool-call' ? `call ${delta.call} of ${delta.name}` : delta.type;
      this.said[kind] = (this.said[kind] ?? '') + said;
    };
    return { isLater: false, begin: () => undefined, hear, end: () => Promise.resolve(true) };
  }
}

/** What a run was answered is what the other one is from now on. */
async function replay(from: Run, to: Run): Promise<void> {
  const { store } = opened;
  const { text } = await recordCassette(
    {
      store: () => Promise.resolve(store),
      find: () => Promise.resolve({ ...from, name: 'recorded', definitionHash: 'none' }),
    },
    [from.handle],
  );
  await store.cassettes.replay(to.handle, await putCassette(store, text));
}

const codeOf = (turn: Promise<unknown>): Promise<unknown> =>
  turn.then(
    () => 'answered',
    (error: unknown) => (error as { code?: unknown }).code,
  );

/** A conversation that is refused once, calls with a path, outgrows its window, and is summed up. */
async function converse(turns: Turns): Promise<unknown[]> {
  const results: unknown[] = [await codeOf(turns.take({}))];
  let compaction: TurnRequest['compaction'];
  for (let turn = 1; turn <= 4; turn += 1) {
    let outcome = await turns.take({ turn, ...defined({ compaction }) }, `turn.${turn}#2`);
    if (outcome.compacted !== undefined) {
      results.push(outcome);
      compaction = { turn, number: outcome.compacted.number };
      outcome = await turns.take({ turn, compaction }, `turn.${turn}#3`);
    }
    results.push(outcome);
    const [call] = outcome.calls;
    if (call === undefined) continue;
    const place = { conversation: 'steps.0@1', turn, call: 0, id: call.id };
    await keepCallResult(opened.store, turns.run.handle, place, {
      content: 'short',
      durationMs: turns.run === recorded ? 123 : 456,
    });
  }
  return results;
}

const calls = (turn: number): Reply =>
  streamed(
    wire,
    wire.events({
      parts: [
        { text: [`${turn}`.repeat(4000)] },
        {
          call: { id: `call-${turn}`, name: 'code_read', pieces: [JSON.stringify({ path: '/srv/recorded/a.txt' })] },
        },
      ],
      reason: wire.reasons.calls,
      usage: null,
    }),
  );

test('answers, refusals and summaries are those that were recorded, in the project of the run that replays them', async () => {
  asking
    .double()
    .next(
      { status: 503, headers: { 'content-type': 'application/json' }, pieces: ['{"error":{"message":"busy"}}'] },
      ...[1, 2, 3].map(calls),
      say('Three files were read.', { usage: { input: 2500, output: 10 } }),
      say('Done.'),
    );
  const before = await converse(new Turns(recorded, asking.models({ windows: { [MODEL]: 4000 } })));
  expect(before).toHaveLength(6);
  expect(before[0]).toBe('MODEL_OVERLOADED');
  expect(before[4]).toMatchObject({ compacted: { strategy: 'summarize' } });
  expect(asking.asked()).toHaveLength(6);

  await replay(recorded, replayed);
  // None is configured.
  const after = await converse(new Turns(replayed, null));
  expect(JSON.stringify(after)).toBe(JSON.stringify(before).replaceAll('/srv/recorded', '/srv/replayed'));
  expect(asking.asked()).toHaveLength(6);
  expect((await opened.store.spending.sum({ handle: replayed.handle, by: 'run' })).total.requests).toBe(0);
  // An attempt that comes again has the same entry; one under another key has none left.
  const again = new Turns(replayed, null);
  expect(await again.take({ turn: 4, compaction: { turn: 4, number: 1 } }, 'turn.4#3')).toEqual(after[5]);
  expect(await codeOf(again.take({ conversation: 'steps.9@1' }, 'turn.1#2'))).toBe('CASSETTE_MISS');
});

test('a model that was not found is not found again, and one that was not recorded is missed', async () => {
  const [from, to] = [
    { handle: '4d6f1c0e-8c55-4a06-b1ac-0d5f0a3f3333', project: '/srv/recorded' },
    { handle: '77777777-8c55-4a06-b1ac-0d5f0a3f4444', project: '/srv/replayed' },
  ];
  const nobody = { model: 'nobody/knows' };
  const code = await codeOf(new Turns(from, asking.models()).take(nobody));
  expect(code).toBe('MODEL_REQUEST_REFUSED');
  await replay(from, to);
  const turns = new Turns(to, null);
  expect(await codeOf(turns.take(nobody))).toBe(code);
  expect(await codeOf(turns.take({ conversation: 'steps.1@1', model: 'another/one' }))).toBe('CASSETTE_MISS');
});

test('whoever follows a replay hears what those heard who followed the run, its calls too', async () => {
  const [from, to] = [
    { handle: '4d6f1c0e-8c55-4a06-b1ac-0d5f0a3f5555', project: '/srv/recorded' },
    { handle: '77777777-8c55-4a06-b1ac-0d5f0a3f6666', project: '/srv/recorded' },
  ];
  const parts = [
    { text: ['I look.'] },
    { call: { id: 'call-1', name: 'code_read', pieces: ['{"path":', '"/srv/recorded/a.txt"}'] } },
    { call: { id: 'call-2', name: 'code_read', pieces: ['path: b'] } },
  ];
  asking.double().next(streamed(wire, wire.events({ parts, reason: wire.reasons.calls, usage: null })));
  const run = new Turns(from, asking.models());
  await run.take({});
  expect(run.said).toEqual({
    text: 'I look.',
    'call 0 of code/read': '{"path":"/srv/recorded/a.txt"}',
    'call 1 of code/read': 'path: b',
  });
  await replay(from, to);
  const turns = new Turns(to, null);
  await turns.take({});
  expect(turns.said).toEqual(run.said);
});
