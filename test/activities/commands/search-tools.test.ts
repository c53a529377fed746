import { expect, it } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { callResult } from '../../../activities/turns/call-result.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Confinement } from '../../../language/permissions.ts';
import { commandContext } from '../harness/command-context.ts';

const registry = builtInRegistry();

interface Found {
  tools: { name: string; description: string; permission: string; parameters: JsonObject; refused?: string }[];
  count: number;
  text: string;
}

const find = async (params: JsonObject, confinement?: Confinement): Promise<Found> =>
  (await registry.run(
    'search_tools',
    params,
    commandContext('/', confinement === undefined ? {} : { confinement }),
  )) as unknown as Found;

it.each([
  ['edit a file', 'code/edit'],
  ['checks types and tests', 'code/verify'],
  ['search lines by regular expression', 'code/search'],
  ['picture of a page', 'screenshot'],
  ['say something in a room', 'collaboration/chat/send'],
  ['language server', 'code/diagnostics'],
])('"%s" finds %s first', async (query, name) => {
  expect((await find({ query })).tools[0]?.name).toBe(name);
});

it('says how what it finds is called', async () => {
  const { tools, count, text } = await find({ query: 'edits passages', limit: 1 });
  expect(tools).toMatchObject([
    {
      name: 'code/edit',
      permission: 'write',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ]);
  expect(count).toBeGreaterThanOrEqual(1);
  expect(text).toMatch(/^code\/edit: Replaces passages/);
});

it('says what the mode of the run refuses, and finds nothing where nothing is', async () => {
  const { tools } = await find({ query: 'code/write' }, { mode: 'readonly' });
  expect(tools.find(({ name }) => name === 'code/write')?.refused).toContain('readonly');
  expect(tools.find(({ name }) => name === 'code/read')).not.toHaveProperty('refused');
  expect(await find({ query: 'xylophone' })).toEqual({ tools: [], count: 0, text: 'no command is about this' });
});

it('a picture in the result of a call goes to the model as a picture', () => {
  const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]).toString('base64');
  const { message } = callResult({ conversation: 'c', turn: 1, call: 0, id: 'x' }, { title: 'Home', image });
  const { blocks } = message as unknown as { blocks: { content: JsonObject[] }[] };
  expect(blocks[0]?.content).toEqual([
    { type: 'text', text: '{"title":"Home","image":"[image]"}' },
    { type: 'image', mediaType: 'image/png', data: image },
  ]);
});
