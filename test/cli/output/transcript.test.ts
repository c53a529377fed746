/** A conversation as people read it: who said what, what was called and what came of it, and what it cost. */
import { expect, test } from 'vitest';
import type { Transcript } from '../../../client/lookup/transcripts.ts';
import { PLAIN } from '../../../client/show/paint.ts';
import { transcriptLines, transcriptMarkdown } from '../../../client/show/transcript.ts';
import type { JsonObject } from '../../../language/json.ts';

const message = (
  turn: number,
  part: number,
  role: string,
  ...blocks: JsonObject[]
): Transcript['messages'][number] => ({
  turn,
  part,
  hash: `${turn}.${part}`,
  message: role === 'system' ? { role, text: 'Be brief.' } : { role, blocks },
});
const turn = (number: number, outcome: JsonObject | null): Transcript['turns'][number] => ({
  conversation: 'steps.0@1',
  turn: number,
  attempt: 'one',
  begunAt: 0,
  answeredAt: outcome === null ? null : 1,
  answer: outcome === null ? null : { outcome },
  copiedOf: null,
});
const usage = { input: 900, output: 100, cacheRead: 234, cacheWrite: 0, thinking: 0, estimated: false };

const transcript: Transcript = {
  key: 'steps.0@1',
  messages: [
    message(0, 0, 'system'),
    message(
      0,
      1,
      'user',
      { type: 'image', mediaType: 'image/png', data: 'AAAABBBB' },
      { type: 'text', text: 'Look.\nAt it.' },
    ),
    message(
      1,
      0,
      'assistant',
      { type: 'thinking', text: 'Hm.' },
      { type: 'tool-call', id: 'a', name: 'code/read', input: { path: 'x' } },
    ),
    message(1, 1, 'user', {
      type: 'tool-result',
      callId: 'a',
      isError: false,
      content: [{ type: 'text', text: 'it says ```' }],
    }),
    message(1, 2, 'user', { type: 'tool-result', callId: 'b', isError: true, content: [{ type: 'text', text: 'no' }] }),
    message(2, 0, 'assistant', { type: 'text', text: 'Done.' }),
  ],
  turns: [
    turn(1, { model: 'openai/some-model', reason: 'auto is it', usage, usd: 0.01 }),
    turn(2, { model: 'openai/some-model', usage, usd: 0.02 }),
    turn(3, null),
  ],
  compactions: [],
};

const compaction = (number: number, strategy: string, instead: string | null): Transcript['compactions'][number] => ({
  turn: 2,
  number,
  copiedOf: null,
  answer: {
    outcome: {
      model: 'openai/some-model',
      usage,
      usd: 0.04,
      compacted: { before: 3900, after: 900, window: 4000, strategy },
    },
    plan: { instead },
    prompts: instead === null ? {} : { summary: 1, summarized: 1 },
  },
});
const shortened: Transcript = {
  ...transcript,
  turns: transcript.turns.map((one) =>
    one.turn === 2 ? { ...one, answer: { ...one.answer, prompts: { stuck: 1, 'cleared-result': 2 } } } : one,
  ),
  compactions: [compaction(1, 'results', null), compaction(2, 'summarize', 'In the place\nof ``` turn 1.')],
};

test('with what was shown in the place of what was said, and our own prompts in their versions', () => {
  const lines = transcriptLines(shortened, PLAIN);
  expect(lines[0]).toBe('steps.0@1  3 turns  4,936 tokens  $0.11');
  expect(lines.slice(lines.indexOf('    ✖ no') + 1, -1)).toEqual([
    '  shortened from 3900 to 900 of 4000 tokens (results)  openai/some-model  1,234 tokens  $0.0400',
    '  shortened from 3900 to 900 of 4000 tokens (summarize)  openai/some-model  1,234 tokens  $0.0400  with summary 1, summarized 1',
    '    In the place',
    '    of ``` turn 1.',
    '  turn 2  openai/some-model  1,234 tokens  $0.0200  with stuck 1, cleared-result 2',
    '    Done.',
  ]);
  expect(transcriptMarkdown(shortened).join('\n')).toContain(
    '*shortened from 3900 to 900 of 4000 tokens (summarize), openai/some-model, 1,234 tokens, $0.0400, with summary 1, summarized 1*\n\n````\nIn the place\nof ``` turn 1.\n````\n\n### Turn 2',
  );
});

test('as lines', () => {
  expect(transcriptLines(transcript, PLAIN)).toEqual([
    'steps.0@1  3 turns  2,468 tokens  $0.0300',
    '  system',
    '    Be brief.',
    '  user',
    '    ▣ image/png, 6 bytes',
    '    Look.',
    '    At it.',
    '  turn 1  openai/some-model  1,234 tokens  $0.0100  auto is it',
    '    ~ Hm.',
    '    → code/read {"path":"x"}',
    '  user',
    '    ← it says ```',
    '  user',
    '    ✖ no',
    '  turn 2  openai/some-model  1,234 tokens  $0.0200',
    '    Done.',
    '  turn 3 has no answer yet',
  ]);
});

test('as Markdown, whose fences nothing in a result closes', () => {
  const lines = transcriptMarkdown(transcript).join('\n');
  expect(lines).toContain('## steps.0@1\n\n3 turns, 2,468 tokens, $0.0300\n');
  expect(lines).toContain('### Turn 1\n\n> Hm.\n\n**Call**\n\n```\ncode/read {"path":"x"}\n```');
  expect(lines).toContain('**Result**\n\n````\nit says ```\n````');
  expect(lines).toContain('**Failed**\n\n```\nno\n```');
  expect(lines).not.toContain('AAAABBBB');
});

test('what of the context went in, and what was left out and why', () => {
  const context = {
    room: 100,
    put: [
      { name: 'variable plan', tokens: 40 },
      { name: 'file a.md', tokens: 60, cut: true },
    ],
    leftOut: [{ name: 'memory', why: 'memories have no store yet' }],
  };
  const told = message(0, 0, 'user', { type: 'text', text: 'What is known' });
  const one: Transcript = {
    key: 'steps.0@1',
    turns: [],
    compactions: [],
    messages: [{ ...told, message: { ...told.message, context } }],
  };
  const lines = [
    'in: variable plan (about 40 tokens)',
    'in: file a.md (about 60 tokens, cut)',
    'left out: memory: memories have no store yet',
  ];
  expect(transcriptLines(one, PLAIN).slice(-3)).toEqual(lines.map((line) => `    ${line}`));
  expect(transcriptMarkdown(one).slice(-3)).toEqual(lines.map((line) => `- ${line}`));
});

test('what a person told, a prompt of ours said, and a fork has of another run is said to be theirs', () => {
  const told = message(1, 1_000_000, 'user', { type: 'text', text: 'Mind the gap' });
  const repair = message(2, 1_000_000, 'user', { type: 'text', text: 'Again.' });
  const one: Transcript = {
    key: 'steps.0@1',
    messages: [
      message(1, 0, 'assistant', { type: 'text', text: 'Hm.' }),
      { ...told, message: { ...told.message, prompt: 'told', by: 'ada', id: 'one' } },
      message(2, 0, 'assistant', { type: 'text', text: 'So.' }),
      { ...repair, message: { ...repair.message, prompt: 'repair' } },
    ],
    turns: [{ ...turn(1, { model: 'm', usage, usd: 1 }), copiedOf: 'nightly' }, turn(2, { model: 'm', usage, usd: 0 })],
    compactions: [],
  };
  expect(transcriptLines(one, PLAIN)).toEqual([
    'steps.0@1  2 turns, 1 of them of nightly  1,234 tokens',
    '  turn 1  m  1,234 tokens  $1.00',
    '    Hm.',
    '  user (told by ada)',
    '    Mind the gap',
    '  turn 2  m  1,234 tokens',
    '    So.',
    '  user (repair)',
    '    Again.',
  ]);
  const markdown = transcriptMarkdown(one).join('\n');
  expect(markdown).toContain('2 turns, 1 of them of nightly, 1,234 tokens\n');
  expect(markdown).toContain('### user (told by ada)\n\nMind the gap\n\n### Turn 2');
  expect(markdown).toContain('### user (repair)');
});
