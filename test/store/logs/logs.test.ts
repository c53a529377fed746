import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { LogChunk, LogLine, NewRun } from '../../../prisma/store/contract/contract.ts';
import { all, finished, started, take, useStore } from '../harness/opened.ts';

const opened = useStore();

const texts = (lines: readonly LogLine[]): string[] => lines.map(({ text }) => text);

function chunk(handle: string, part: number, text: string, rest: Partial<LogChunk> = {}): LogChunk {
  return { handle, key: 'steps.0@1', stream: 'stdout', attempt: 1, part, text, droppedBytes: 0, ...rest };
}

describe('reading a log', () => {
  test('joins lines across chunks, each with its own writer', async () => {
    const { logs } = opened.store;
    await logs.append([
      chunk('join', 0, 'one\r\ntw'),
      chunk('join', 0, 'err', { stream: 'stderr' }),
      chunk('join', 0, 'other\nha', { key: 'steps.1@1' }),
    ]);
    await logs.append([
      chunk('join', 1, 'o\n\nlast'),
      chunk('join', 1, 'or\n', { stream: 'stderr' }),
      chunk('join', 1, 'lf', { key: 'steps.1@1' }),
    ]);
    expect(await logs.read('join', 'stdout', 0, 100)).toEqual(['one', 'two', 'other', 'half', '', 'last']);
    expect(await logs.read('join', 'stderr', 0, 100)).toEqual(['error']);
    expect(await logs.read('join', 'combined', 0, 100)).toEqual(['one', 'two', 'error', 'other', 'half', '', 'last']);
    expect(await logs.read('join', 'stdout', 1, 2)).toEqual(['two', 'other']);
    expect(await logs.read('join', 'nothing', 0, 10)).toEqual([]);
    expect(await logs.streams('join')).toEqual([
      { stream: 'stderr', bytes: 6 },
      { stream: 'stdout', bytes: 24 },
    ]);
  });

  test('of many chunks: pages and tails are parts of the whole', async () => {
    const { logs } = opened.store;
    const lines = Array.from({ length: 3_000 }, (_, n) => `line ${n}`);
    const text = `${lines.join('\n')}\n`;
    const pieces = text.match(/[^]{1,101}/g) ?? [];
    await logs.append(pieces.map((piece, part) => chunk('many', part, piece)));
    expect(await logs.read('many', 'stdout', 0, 5_000)).toEqual(lines);
    expect(await logs.read('many', 'stdout', 2_990, 5)).toEqual(lines.slice(2_990, 2_995));
    for (const count of [0, 1, 7, 999, 10_000]) {
      expect(texts(await logs.tail('many', { stream: 'stdout' }, count))).toEqual(
        count === 0 ? [] : lines.slice(-count),
      );
    }
  });

  test('pieces that only the newest attempt may write stand in their order', async () => {
    const { logs } = opened.store;
    const words = Array.from({ length: 50 }, (_, n) => `${n} `);
    for (let round = 0; round < 20; round++) {
      const handle = `fenced-${round}`;
      await logs.append(
        words.map((word, part) => chunk(handle, part, word, { stream: part % 2 === 0 ? 'stdout' : 'stderr' })),
        1,
      );
      const written = await opened.database.query<{ part: number }>(
        `select part from log_chunks where handle = $1 order by position`,
        [handle],
      );
      expect(written.map(({ part }) => part)).toEqual(words.map((_, part) => part));
    }
  });

  test('shows what the bound dropped, and a part written again replaces the text', async () => {
    const { logs } = opened.store;
    await logs.append([chunk('bound', 0, 'head\n'), chunk('bound', 1, 'old tail\n', { droppedBytes: 10 })]);
    await logs.append([
      chunk('bound', 1, 'tail\n', { droppedBytes: 5 }),
      chunk('bound', 1, 'new tail\n', { droppedBytes: 12_345_678 }),
    ]);
    expect(await logs.read('bound', 'combined', 0, 10)).toEqual(['head', '… 12,345,678 bytes dropped …', 'new tail']);
    expect(texts(await logs.tail('bound', { stream: 'stdout' }, 2))).toEqual([
      '… 12,345,678 bytes dropped …',
      'new tail',
    ]);
  });

  test('holds NUL, broken surrogates, hostile and very long keys', async () => {
    const { logs } = opened.store;
    const key = 'steps.0.then.'.repeat(400);
    await logs.append([
      chunk('odd', 0, 'a\0b \ud800 "\\{}\n', { key: '__proto__' }),
      chunk('odd', 0, 'deep\n', { key }),
    ]);
    expect(await logs.read('odd', 'stdout', 0, 10)).toEqual(['a\u2400b \ufffd "\\{}', 'deep']);
  });
});

describe('following a log', () => {
  test('yields lines as they come and ends with the run', async () => {
    const { logs, events } = opened.store;
    await events.append('follow', [started(1)]);
    await logs.append([chunk('follow', 0, 'one\ntw')]);
    const following = all(logs.follow('follow', { stream: 'combined' }, {}));
    await sleep(100);
    await logs.append([chunk('follow', 1, 'o\n'), chunk('follow', 0, 'err\n', { stream: 'stderr' })]);
    await sleep(50);
    await logs.append([chunk('follow', 2, 'no line break')]);
    await events.append('follow', [finished(2)]);
    expect(texts(await following)).toEqual(['one', 'two', 'err', 'no line break']);
  });

  test('shows of a rewritten part only what is new', async () => {
    const { logs, events } = opened.store;
    await events.append('rewrite', [started(1)]);
    const seen: string[] = [];
    const following = (async () => {
      for await (const line of logs.follow('rewrite', { stream: 'stdout' }, {})) seen.push(line.text);
    })();
    for (const [text, droppedBytes] of [
      ['l1\n', 0],
      ['l1\nl2\n', 0],
      ['l2\nl3\n', 3],
      ['l7\nl8\n', 18],
    ] as const) {
      await logs.append([chunk('rewrite', 0, text, { droppedBytes })]);
      await sleep(150);
    }
    expect(seen).toEqual(['l1', 'l2', 'l3', '… 9 bytes dropped …', 'l7', 'l8']);
    await events.append('rewrite', [finished(2)]);
    await following;
  });

  test('shows a prompt whose writer fell silent', async () => {
    const { logs } = opened.store;
    const following = take(logs.follow('prompt', { stream: 'stdout' }, {}), 1);
    await logs.append([chunk('prompt', 0, 'Continue? ')]);
    expect(texts(await following)).toEqual(['Continue? ']);
  });
});

describe('what models say', () => {
  test('stands in lines behind the mark of its stream, among what processes print and alone', async () => {
    const { logs } = opened.store;
    await logs.append([
      chunk('model', 0, 'Let me see.\nAnd so.\n', { key: 'k/turn.1', stream: 'thought' }),
      chunk('model', 1, 'I look.\n', { key: 'k/turn.1', stream: 'answer' }),
      chunk('model', 2, 'code/read {}\n', { key: 'k/turn.1', stream: 'calls' }),
      chunk('model', 0, 'printed\n', { key: 'other' }),
    ]);
    const said = ['~ Let me see.', '~ And so.', 'I look.', '→ code/read {}'];
    expect(await logs.read('model', 'model', 0, 10)).toEqual(said);
    expect(await logs.read('model', 'combined', 0, 10)).toEqual([...said, 'printed']);
    expect(texts(await logs.tail('model', { stream: 'model' }, 2))).toEqual(said.slice(2));
    expect(await logs.read('model', 'stdout', 0, 10)).toEqual(['printed']);
  });

  test('is followed before a paragraph ends, and read whole', async () => {
    const { logs, events } = opened.store;
    await events.append('wrapped', [started(1)]);
    const words = Array.from({ length: 60 }, (_, nth) => `word${nth}`).join(' ');
    const key = 'k/turn.1';
    await logs.append([chunk('wrapped', 0, words, { key, stream: 'answer' })]);
    const [first = ''] = texts(await take(logs.follow('wrapped', { stream: 'combined' }, {}), 1));
    expect(first).toMatch(/^word0 word1 .* $/);
    expect(first.length).toBeLessThanOrEqual(121);
    await logs.append([chunk('wrapped', 1, ' and the end\n', { key, stream: 'answer' })]);
    await events.append('wrapped', [finished(2)]);
    expect(texts(await all(logs.follow('wrapped', { stream: 'model' }, {}))).join('')).toBe(`${words} and the end`);
    expect(await logs.read('wrapped', 'model', 0, 10)).toEqual([`${words} and the end`]);
  });

  test('is read in pieces, each once, whoever else has read', async () => {
    const { logs } = opened.store;
    const key = 'k/turn.1';
    const [one, other] = [logs.reader('pieces', 'model'), logs.reader('pieces', 'model')];
    expect(await one.read()).toEqual([]);
    await logs.append([chunk('pieces', 0, 'a', { key, stream: 'answer' })]);
    expect(await one.read()).toEqual([{ key, stream: 'answer', attempt: 1, text: 'a', droppedBytes: 0 }]);
    expect(await one.read()).toEqual([]);
    await logs.append([
      chunk('pieces', 0, 'abc', { key, stream: 'answer' }),
      chunk('pieces', 1, 'd', { key, stream: 'calls' }),
    ]);
    expect((await one.read()).map(({ stream, text }) => `${stream} ${text}`)).toEqual(['answer bc', 'calls d']);
    expect((await other.read()).map(({ stream, text }) => `${stream} ${text}`)).toEqual(['answer abc', 'calls d']);
    await logs.append(
      Array.from({ length: 60 }, (_, part) => chunk('pieces', part, 'x', { key: 'k/turn.2', stream: 'answer' })),
    );
    expect(await one.read()).toHaveLength(50);
    expect(one.hasMore).toBe(true);
    expect(await one.read()).toHaveLength(10);
    expect(one.hasMore).toBe(false);
  });
});

const nestedRun = (handle: string, parent: string | null): NewRun => ({
  handle,
  name: 'n',
  definitionHash: 'hash',
  project: '/p',
  persona: 'ada',
  parent,
  inputs: {},
  startedAt: 0,
});

describe('a run and those nested in it', () => {
  const inner = 'outer/steps.1@1';

  test('are read together in the order of writing, by step, and with times', async () => {
    const { logs, runs } = opened.store;
    for (const [handle, parent] of [
      ['outer', null],
      [inner, 'outer'],
      ['outermost', null],
    ] as const)
      await runs.create(nestedRun(handle, parent));
    const before = Date.now();
    await logs.append([chunk('outer', 0, 'own\n'), chunk('outermost', 0, 'of another run\n')]);
    await logs.append([chunk(inner, 0, 'nes'), chunk(inner, 0, 'second\n', { key: 'steps.10@2' })]);
    await logs.append([chunk(inner, 1, 'ted\n')]);
    const whole = await logs.tail('outer', { stream: 'combined', nested: true }, 10);
    expect(whole.map(({ handle, key, stream, text }) => ({ handle, key, stream, text }))).toEqual([
      { handle: 'outer', key: 'steps.0@1', stream: 'stdout', text: 'own' },
      { handle: inner, key: 'steps.0@1', stream: 'stdout', text: 'nested' },
      { handle: inner, key: 'steps.10@2', stream: 'stdout', text: 'second' },
    ]);
    for (const { at } of whole) {
      expect(at).toBeGreaterThan(before - 60_000);
      expect(at).toBeLessThan(Date.now() + 60_000);
    }
    const ofStep = async (step: string): Promise<string[]> =>
      texts(await logs.tail('outer', { stream: 'combined', nested: true, step }, 10));
    expect(await ofStep('steps.0')).toEqual(['own']);
    expect(await ofStep('steps.1@1')).toEqual(['nested', 'second']);
    expect(await ofStep('steps.1@1/steps.0@1')).toEqual(['nested']);
    expect(await ofStep('steps.1@1/steps.1')).toEqual([]);
    const loop = ['steps.2.steps.0@1.1', 'steps.2.steps.0@1.2', 'steps.2.steps.0@11.1', 'steps.2#2.steps.0@1.1'];
    await logs.append(loop.map((key) => chunk(inner, 0, `${key}\n`, { key })));
    expect(await ofStep('steps.1@1/steps.2@1')).toEqual(loop.slice(0, 2));
    expect(await ofStep('steps.1@1/steps.2')).toEqual(loop);
    expect(await ofStep('steps.1@1/steps.2.steps.0@1')).toEqual(loop.slice(0, 2));
    for (const [step, isOfSeveral] of [
      ['steps.1@1/steps.2@1', true],
      ['steps.1@1/steps.2#2', false],
      ['steps.7', false],
    ] as const)
      expect(await logs.isOfSeveralSteps('outer', { stream: 'combined', nested: true, step })).toBe(isOfSeveral);
    expect(await logs.isOfSeveralSteps('outer', { stream: 'combined', nested: true })).toBe(true);
    expect(await logs.isOfSeveralSteps('outer', { stream: 'combined' })).toBe(false);
    expect(texts(await logs.tail('outer', { stream: 'combined' }, 10))).toEqual(['own']);
  });

  test('are followed together, also a run that begins meanwhile', async () => {
    const { logs, runs, events } = opened.store;
    await runs.create(nestedRun('around', null));
    await events.append('around', [started(1)]);
    await logs.append([chunk('around', 0, 'own\n')]);
    const following = all(logs.follow('around', { stream: 'combined', nested: true }, {}));
    await sleep(100);
    await runs.create(nestedRun('around/steps.1@1', 'around'));
    await logs.append([chunk('around/steps.1@1', 0, 'nested\n')]);
    await events.append('around', [finished(2)]);
    expect((await following).map(({ handle, text }) => [handle, text])).toEqual([
      ['around', 'own'],
      ['around/steps.1@1', 'nested'],
    ]);
  });
});
