/** What `simulate` says of each command that can say what it would do, and what it answers in its place. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulate } from '../../../authoring/simulate/simulate.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { catalogue } from '../../catalogue.ts';

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'sentinel-simulated-'));
  writeFileSync(join(project, 'a.txt'), 'one\ntwo\n');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** The steps, one after another in one run: what each would do, where that is known from, and its result. */
async function simulated(...commands: (readonly [string, JsonObject])[]): Promise<unknown[][]> {
  const steps = commands.map(([command, params], at) => ({ type: 'command', command, params, outputTo: `r${at}` }));
  const definition = { name: 'x', steps, loop: { type: 'once' } } as unknown as Definition;
  const report = await simulate({
    definition,
    known: () => undefined,
    catalogue,
    inputs: {},
    replies: {},
    project,
    persona: 'ada',
  });
  return report.steps.map(({ effect, source }, at) => [effect, source, report.outputs[`r${at}`]]);
}

test('commands of files say what becomes of them', async () => {
  expect(
    await simulated(
      ['code/edit', { path: 'a.txt', edits: [{ old: 'two', new: '2' }] }],
      ['code/read', { path: 'a.txt', encoding: 'base64' }],
      ['code/git', { operation: 'add', paths: ['a.txt'] }],
      ['code/undo', { key: 'steps.0@1' }],
      ['code/verify', {}],
    ),
  ).toEqual([
    [
      'edits a.txt from line 2',
      'project',
      { path: 'a.txt', edits: 1, firstLine: 2, diff: expect.stringContaining('-two\n+2\n') as string },
    ],
    ['reads a.txt (6 bytes)', 'project', { path: 'a.txt', content: 'b25lCjIK', bytes: 6 }],
    ['git add', 'assumed', { success: true, exitCode: 0, stdout: '', stderr: '', output: '' }],
    ['takes back what the run changed from steps.0@1 on', 'assumed', { files: [], conflicts: [], left: [], gaps: [] }],
    ['runs the checks of the project', 'assumed', { success: true, checks: [], failures: [], skipped: [], output: '' }],
  ]);
});

test('records are kept for as long as the simulation lasts', async () => {
  const collection = 'c';
  const first = { id: 'simulated-1', collection, createdAt: 0, recordVersion: 1, n: 1 };
  expect(
    await simulated(
      ['data/create', { collection, data: { n: 1 } }],
      ['data/create', { collection, id: 'b', data: { n: 2 } }],
      ['data/read', { collection, id: 'b' }],
      ['data/update', { collection, filter: { n: 2 }, data: { n: 3 } }],
      ['data/list', { collection }],
      ['data/list', { collection, filter: { $or: [{ n: { $gt: 2 } }, { id: { $like: 'z%' } }] }, cursor: null }],
      ['data/delete', { collection, id: 'b' }],
      ['data/list', { collection }],
      ['data/read', { collection, id: 'b' }],
    ),
  ).toEqual([
    ['creates a record in c', 'assumed', first],
    ['creates a record in c', 'assumed', expect.objectContaining({ id: 'b' })],
    ['reads c as this simulation left it', 'assumed', expect.objectContaining({ id: 'b' })],
    ['changes records in c', 'assumed', [expect.objectContaining({ id: 'b', n: 3 })]],
    ['lists c as this simulation left it', 'assumed', [first, expect.objectContaining({ n: 3 })]],
    [
      'lists c as this simulation left it',
      'assumed',
      { records: [expect.objectContaining({ n: 3, recordVersion: 2 })], cursor: 'simulated', more: false },
    ],
    ['deletes records in c', 'assumed', { deleted: 1 }],
    ['lists c as this simulation left it', 'assumed', [first]],
    ['reads c as this simulation left it', 'assumed', null],
  ]);
});

test('what reaches further is only told of', async () => {
  const said = await simulated(
    ['collaboration/chat/send', { room: 'ops', message: 'Hello' }],
    ['ai/generate', { prompt: 'Hello' }],
    ['ai/should-respond', { message: 'Hello' }],
    ['rag/build', { sources: ['a.txt'] }],
    ['screenshot', { url: 'http://localhost/' }],
    ['health-check', {}],
    ['search_tools', { query: 'files' }],
  );
  expect(said.map(([effect, source]) => [effect, source])).toEqual([
    ['says something in ops', 'assumed'],
    ['asks a model', 'assumed'],
    ['asks a model', 'assumed'],
    ['collects what models are told', 'assumed'],
    ['takes a picture of http://localhost/', 'assumed'],
    ['asks how the services are', 'assumed'],
    ['search_tools', 'assumed'],
  ]);
  expect(said[0]?.[2]).toEqual({
    room: 'ops',
    author: 'the simulation',
    seq: 1,
    replyTo: null,
    thread: null,
    mentions: [],
    message: 'Hello',
    event: 'chat:ops:message',
  });
  expect(said[3]?.[2]).toEqual({ text: '', tokens: 0, sources: [], leftOut: [] });
  expect(said[5]?.[2]).toEqual({ status: 'healthy' });
});
