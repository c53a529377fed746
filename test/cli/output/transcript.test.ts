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
};

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
