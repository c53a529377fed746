/** Conversations in the chat format that training programs read. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { withoutTokens } from '../../../language/secrets.ts';
import { chatMessages, chatTool } from '../../../operations/samples/chat-format.ts';

test('messages are said as chat completions have them, calls as functions, and thoughts not at all', () => {
  const conversation: JsonObject[] = [
    { role: 'system', text: 'Be brief.' },
    {
      role: 'user',
      blocks: [
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
        { type: 'text', text: 'What is this?' },
      ],
    },
    {
      role: 'assistant',
      author: 'openai/some-model',
      blocks: [
        { type: 'thinking', text: 'Hm.' },
        { type: 'tool-call', id: 'one', name: 'code/read', input: { path: 'a.txt' } },
        { type: 'tool-call', id: 'two', name: 'code/read', input: {}, invalid: '{"path":' },
      ],
    },
    {
      role: 'user',
      blocks: [
        { type: 'tool-result', callId: 'one', content: [{ type: 'text', text: 'what a says' }], isError: false },
      ],
    },
    { role: 'user', blocks: [{ type: 'text', text: 'Go on.' }], prompt: 'told' },
    { role: 'assistant', author: 'openai/some-model', blocks: [{ type: 'text', text: 'Done.' }] },
  ];
  expect(conversation.flatMap(chatMessages)).toEqual([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'text', text: 'What is this?' },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'one', type: 'function', function: { name: 'code_read', arguments: '{"path":"a.txt"}' } },
        { id: 'two', type: 'function', function: { name: 'code_read', arguments: '{"path":' } },
      ],
    },
    { role: 'tool', tool_call_id: 'one', content: 'what a says' },
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content: 'Done.' },
  ]);
});

test('a tool is a function with the schema of its arguments', () => {
  expect(chatTool({ name: 'code/read', description: 'Reads a file.', parameters: { type: 'object' } })).toEqual({
    type: 'function',
    function: { name: 'code_read', description: 'Reads a file.', parameters: { type: 'object' } },
  });
});

test('what stands for a secret is said by its name', () => {
  expect(withoutTokens(`a sealed_API_KEY_${'0'.repeat(32)} b`)).toBe('a [env API_KEY] b');
  expect(withoutTokens('sealed_ is a word')).toBe('sealed_ is a word');
});
