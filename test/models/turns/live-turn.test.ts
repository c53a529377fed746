/** What a turn says while it does, as it stands in the step's log. */
import { expect, test } from 'vitest';
import type { Delta } from '../../../world/models/port/turn.ts';
import { LiveTurn } from '../../../activities/turns/live/live-turn.ts';
import { Masker } from '../../../language/masking/masker.ts';
import { hiddenOf } from '../../../language/secrets.ts';
import type { LogChunk } from '../../../prisma/store/contract/contract.ts';

const text = (said: string): Delta => ({ type: 'text', text: said });
const thinking = (said: string): Delta => ({ type: 'thinking', text: said });
const call = (index: number, name: string, said: string): Delta => ({
  type: 'tool-call',
  call: index,
  name,
  arguments: said,
});

interface Given {
  key?: string;
  attempt?: number;
  env?: { [name: string]: string };
}

/** What was written, stream by stream. */
async function logged(deltas: readonly Delta[], given: Given = {}): Promise<string[]> {
  const { key = 'steps.0@1/turn.2', attempt = 1, env = {} } = given;
  const written = new Map<number, LogChunk>();
  const append = (chunks: readonly LogChunk[]): Promise<void> => {
    for (const chunk of chunks) written.set(chunk.part, chunk);
    return Promise.resolve();
  };
  const live = new LiveTurn({
    logs: { append },
    label: { handle: 'run', key, attempt },
    masker: new Masker(hiddenOf(env)),
  });
  live.begin('openai/some-model', live.isLater);
  for (const delta of deltas) live.hear(delta);
  expect(await live.end()).toBe(true);
  return [...written.values()].map((chunk) => `${chunk.stream}: ${chunk.text}`);
}

test('blocks stand in lines of their own, in the order in which they came', async () => {
  const deltas = [
    thinking('Let me '),
    thinking('see.'),
    text('I look'),
    call(0, 'code/read', '{"path":'),
    call(0, 'code/read', '"a"}'),
  ];
  expect(await logged(deltas)).toEqual([
    'thought: Let me see.\n',
    'answer: I look\n',
    'calls: code/read {"path":"a"}\n',
  ]);
});

test('a line that ends by itself gets no second end, and what says nothing is nothing', async () => {
  expect(await logged([text('one\n'), text(''), thinking('two\n'), text('three')])).toEqual([
    'answer: one\n',
    'thought: two\n',
    'answer: three\n',
  ]);
  expect(await logged([])).toEqual([]);
});

test('calls that come in turn each have a line, and what is late of one follows behind', async () => {
  const deltas = [
    call(0, 'code/read', ''),
    call(1, 'code/list', ''),
    call(0, 'code/read', '{"path":'),
    call(1, 'code/list', '{}'),
    call(0, 'code/read', '"a"}'),
  ];
  expect((await logged(deltas)).join('')).toBe('calls: code/read \ncode/list {}\ncode/read … {"path":"a"}\n');
});

test('a value that comes in pieces is masked in each stream, and a part that was none is kept', async () => {
  const env = { API_TOKEN: 'hunter2-hunter2' };
  const deltas = [
    text('It is hunt'),
    text('er2-hunter2.'),
    thinking('hunter2-hun'),
    text('No: hunter2-'),
    call(0, 'a/b', '"hunter2-hunter2"'),
  ];
  expect(await logged(deltas, { env })).toEqual([
    'answer: It is [env API_TOKEN].\n',
    'thought: hunter2-hun\n',
    'answer: No: hunter2-\n',
    'calls: a/b "[env API_TOKEN]"\n',
  ]);
});

test.each([
  [{ attempt: 2 }, 'turn 2'],
  [{ key: 'steps.0@1/turn.7#3' }, 'turn 7'],
])('a turn that is tried again says so first: %j', async (given, turn) => {
  const [note, ...said] = await logged([text('Hello.')], given);
  expect(note).toBe(`notes: ${turn} is tried again; what it had said before does not count\n`);
  expect(said).toEqual(['answer: Hello.\n']);
});

test('characters are whole, whatever the pieces are', async () => {
  const word = 'Grüße 👋🏽 ';
  const deltas = Array.from({ length: 500 }, () => text(word));
  expect((await logged(deltas)).map((chunk) => chunk.replace('answer: ', '')).join('')).toBe(`${word.repeat(500)}\n`);
});
