/** Events on their way into the store: when they are written, and that what is too large for a row is kept by its content. */
import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { Question } from '../../../language/events/question.ts';
import type { Definition } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import type { RunContext, Store } from '../../../prisma/store/contract/contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { RunRecorder } from '../../../worker/run-recorder.ts';
import { finished, started, useStore, warning } from '../harness/opened.ts';

const opened = useStore();

const live = (historyLength: number, lostFrom?: number) => ({ isReplaying: false, historyLength, lostFrom });
const replaying = { isReplaying: true, historyLength: 3 };

const question: Question = {
  id: 'steps.0@1',
  kind: 'approval',
  message: 'Ship it?',
  choices: ['approve'],
  show: null,
  form: null,
  assignee: 'ada',
  priority: 'normal',
  askedAt: 1,
  expiresAt: null,
  digest: 'd',
};

const large = 'x'.repeat(40_000);
const reference = {
  $payload: createHash('sha256').update(JSON.stringify(large)).digest('hex'),
  bytes: 40_002,
  preview: expect.any(String),
};

/** As another process reads it. */
async function contextElsewhere(handle: string): Promise<RunContext | null> {
  const other = openStore({ url: opened.database.url });
  try {
    return await other.runs.context(handle);
  } finally {
    await other.close();
  }
}

test('large inputs and outputs are references, and what they stand for can be read', async () => {
  const { store } = opened;
  const recorder = new RunRecorder(store);
  await recorder.append(
    'large',
    [{ ...started(1), inputs: { small: 1, large } }, warning(2), finished(3, { outputs: { large, small: [2] } })],
    live(3),
  );
  await recorder.close();
  const events = await store.events.after('large', -1);
  expect(events.map((event) => event.seq)).toEqual([1, 2, 3]);
  expect(events[0]).toMatchObject({ type: 'run-started', inputs: { small: 1, large: reference } });
  expect(events[2]).toMatchObject({ type: 'run-finished', outputs: { small: [2], large: reference } });
  expect(JSON.stringify(events).length).toBeLessThan(5000);
  const kept = await store.payloads.get(reference.$payload);
  expect(JSON.parse(Buffer.from(kept ?? []).toString('utf8'))).toBe(large);
});

test.each<RunEvent>([
  { seq: 2, at: 2, key: 'steps.0@1', type: 'asked', question },
  { seq: 2, at: 2, key: '', type: 'paused', reason: 'somebody said so' },
])(
  'a run that waits for somebody ($type) is in the store before its workflow task ends: nothing would hand the event over again',
  async (event) => {
    const { store } = opened;
    const recorder = new RunRecorder(store);
    const handle = `waits-${event.type}`;
    await recorder.append(handle, [started(1), event], live(3));
    expect((await store.events.after(handle, -1)).map(({ seq }) => seq)).toEqual([1, 2]);
    await recorder.close();
  },
);

test('events that a replay hands over again are written once', async () => {
  const { store } = opened;
  const recorder = new RunRecorder(store);
  const events = [started(1), warning(2), finished(3)];
  await recorder.append('again', events, live(3));
  await recorder.append('again', events, replaying);
  await recorder.append('again', events, live(3));
  await recorder.close();
  expect(await store.events.after('again', -1)).toEqual(events);
});

test('what a step asks of its run is known from the run itself, before anything of it is written', async () => {
  const { store } = opened;
  const recorder = new RunRecorder(store);
  await recorder.append('known', [started(1)], live(3));
  expect(await store.runs.find('known')).toBeNull();
  expect(await store.runs.context('known')).toEqual({
    handle: 'known',
    project: '/project',
    persona: 'ada',
    definitionHash: 'h',
  });
  await recorder.close();
  expect(await contextElsewhere('known')).toEqual(await store.runs.context('known'));
});

test('a start that does not say what it runs is written with the hash of what the run holds', async () => {
  const { store } = opened;
  const recorder = new RunRecorder(store);
  const definition: Definition = { name: 'child', loop: { type: 'once' }, steps: [] };
  const { append } = recorder.sinks().recorder;
  type Info = Parameters<typeof append.fn>[0];
  const info = { unsafe: { isReplaying: false }, historyLength: 3 } as unknown as Info;
  await append.fn(info, 'unnamed', [{ ...started(1, 'child'), definitionHash: '', parent: 'outer' }], definition);
  await append.fn(info, 'named', [started(1)], undefined);
  await recorder.close();
  expect(await store.events.after('unnamed', -1)).toMatchObject([{ definitionHash: contentHash(definition) }]);
  expect(await store.runs.find('unnamed')).toMatchObject({ definitionHash: contentHash(definition), parent: 'outer' });
  expect(await store.events.after('named', -1)).toMatchObject([{ definitionHash: 'h' }]);
});

test('what another worker took back is written again, whatever was written here before', async () => {
  const { store } = opened;
  const [first, second] = [new RunRecorder(store), new RunRecorder(store)];
  await first.append('twice', [started(1)], live(3));
  await first.append('twice', [warning(2)], live(9));
  await first.append('twice', [warning(3, 'lost'), warning(4, 'lost')], live(15));
  await first.close();
  // Killed before it wrote what came of it.
  await second.append('twice', [started(1), warning(2)], replaying);
  await second.close();
  await store.events.takeBack('twice', 3, 27);
  const known = [started(1), warning(2), warning(3, 'new')];
  await first.append('twice', known, replaying);
  await first.append('twice', [warning(4, 'newer')], live(33, 4));
  await first.close();
  expect(await store.events.after('twice', -1)).toEqual([...known, warning(4, 'newer')]);
});

test('a start waits for its run, an event not for a start; what keeps coming is written in larger batches', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const began = performance.now();
    const writes: string[] = [];
    const append = (handle: string, events: readonly RunEvent[]): Promise<void> => {
      writes.push(`${performance.now() - began}: ${handle} ${events.map(({ seq }) => seq).join(' ')}`);
      return Promise.resolve();
    };
    const recorder = new RunRecorder({ events: { append }, runs: opened.store.runs } as unknown as Store);
    await recorder.append('short', [started(1)], live(3));
    await vi.advanceTimersByTimeAsync(500);
    for (let seq = 1; seq <= 8; seq += 1) {
      await recorder.append('long', [warning(seq)], live(3));
      await vi.advanceTimersByTimeAsync(60);
    }
    await vi.advanceTimersByTimeAsync(2_000);
    await recorder.append('late', [started(1)], live(3));
    await vi.advanceTimersByTimeAsync(2_000);
    // Which of two runs comes first in a batch is nobody's business.
    expect(writes.toSorted()).toEqual(
      ['600: long 1 2', '600: short 1', '850: long 3 4 5 6', '1100: long 7 8', '3980: late 1'].toSorted(),
    );
    await recorder.close();
  } finally {
    vi.useRealTimers();
  }
});
