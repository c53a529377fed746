/** Calls in the text of an answer, and what is only text about calls. */
import { expect, test } from 'vitest';
import { callsInText } from '../../../activities/turns/told-calls.ts';
import { TOOLS } from '../harness/turns.ts';

const read = { name: 'code/read', input: { path: 'a' } };
const found = (text: string): unknown[] => callsInText(text, TOOLS).map(({ name, input }) => ({ name, input }));

test.each([
  ['tags', 'I look.\n<tool_call>{"name": "code_read", "arguments": {"path": "a"}}</tool_call>', [read]],
  [
    'two in tags',
    '<tool_call>{"name":"code/read","arguments":{"path":"a"}}</tool_call><tool_call>\n{"name":"code/read","input":{"path":"a"}}\n</tool_call>',
    [read, read],
  ],
  ['function tags', '<function=code_read>{"path": "a"}</function>', [read]],
  ['a fence', 'First:\n```json\n{"tool": "code/read", "parameters": {"path": "a"}}\n```\n', [read]],
  ['bare', '{"name": "code_read", "arguments": "{\\"path\\": \\"a\\"}"}', [read]],
  ['a list', '[{"function": {"name": "code_read", "arguments": {"path": "a"}}}]', [read]],
  ['no arguments', '<tool_call>{"name": "code_read"}</tool_call>', [{ name: 'code/read', input: {} }]],
  ['an open tag', '<tool_call>\n{"name": "code_read", "arguments": {"path": "a"}}', [read]],
  [
    'Qwen coder',
    '<tool_call>\n<function=code_read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>',
    [read],
  ],
  ['GLM', '<tool_call>code_read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>', [read]],
  ['Mistral', '[TOOL_CALLS][{"name": "code_read", "arguments": {"path": "a"}}]', [read]],
  ['Llama', '<|python_tag|>{"name": "code_read", "parameters": {"path": "a"}}<|eom_id|>', [read]],
  ['Phi', 'functools[{"name": "code_read", "arguments": {"path": "a"}}]', [read]],
  ['Granite', '<|tool_call|>[{"name": "code_read", "arguments": {"path": "a"}}]', [read]],
  [
    'Cohere',
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "code_read", "parameters": {"path": "a"}}]<|END_ACTION|>',
    [read],
  ],
  [
    'DeepSeek',
    '<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>code_read\n```json\n{"path": "a"}\n```<|tool▁call▁end|><|tool▁calls▁end|>',
    [read],
  ],
  ['DeepSeek without a fence', '<|tool▁call▁begin|>code_read<|tool▁sep|>{"path": "a"}<|tool▁call▁end|>', [read]],
  [
    'Kimi',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.code_read:0<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>',
    [read],
  ],
  ['gpt-oss', '<|channel|>commentary to=functions.code_read <|constrain|>json<|message|>{"path": "a"}<|call|>', [read]],
  [
    'parameters in tags, of which some are numbers',
    '<function_calls><invoke name="code_read"><parameter name="path">a</parameter><parameter name="lines">3</parameter></invoke></function_calls>',
    [{ name: 'code/read', input: { path: 'a', lines: 3 } }],
  ],
  ['function_call', '<function_call>{"name": "code_read", "arguments": {"path": "a"}}</function_call>', [read]],
])('%s', (_form, text, calls) => {
  expect(found(text)).toEqual(calls);
});

test.each([
  ['prose', 'You would write code_read({"path": "a"}).'],
  ['a name that is not offered', '<tool_call>{"name": "code/git", "arguments": {}}</tool_call>'],
  ['a value that is no call', '{"path": "a", "name": "Ada"}'],
  ['broken JSON', '<tool_call>{"name": "code_read", </tool_call>'],
  ['a fence of another language', '```ts\n{"tool": "code/read"}\n```'],
  ['nothing', ''],
])('%s calls nothing', (_form, text) => {
  expect(found(text)).toEqual([]);
});

test('arguments that are no object are kept as they were written, and calls are bounded', () => {
  expect(callsInText('<tool_call>{"name": "code_read", "arguments": "a"}</tool_call>', TOOLS)).toEqual([
    { type: 'tool-call', id: 'text-0', name: 'code/read', input: {}, invalid: '"a"' },
  ]);
  const many = '<tool_call>{"name": "code_read"}</tool_call>'.repeat(200);
  expect(callsInText(many, TOOLS)).toHaveLength(50);
});
