/**
 * The collaborative build as its author wrote it: two nested sentinels build at once, each in a workspace of its own, and a
 * model resolves what both have changed. The model is a double at the wire, and the only thing that is put in is its name.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';
import type { Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { root } from '../../project/tree.ts';
import { Harness } from '../harness/harness.ts';
import { commitAll, git } from '../harness/models/broken-project.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';

let harness: Harness;
const model = new ModelDouble();
const cache = mkdtempSync(join(tmpdir(), 'sentinel-cache-'));

beforeAll(async () => {
  await model.open();
  model.double.answer(wire.path, answer);
  harness = await Harness.open();
  harness.variables = { SENTINEL_CACHE: cache };
  writeFileSync(join(harness.project, 'package.json'), '{\n  "name": "shop",\n  "port": 0\n}\n');
  writeFileSync(join(harness.project, '.gitignore'), '.sentinel\n');
  commitAll(harness.project);
  await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
  rmSync(cache, { recursive: true, force: true });
});

function asWritten(): Definition {
  const file = join(root, 'test/cases/definitions/as-written/olympic-10.1-collaborative-build.json');
  const text = readFileSync(file, 'utf8').replaceAll('claude-3-5-sonnet-20241022', MODEL);
  const read = parseDefinition((JSON.parse(text) as { definition: JsonObject }).definition, { catalogue });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.definition;
}

/** How often each side was asked to build. */
const passes = { frontend: 0, backend: 0 };
const told: string[] = [];

/** Each side writes a file of its own and the port, and compiles in its second pass. */
function answer(body: JsonObject): Reply {
  const messages = wire.messages(body);
  const prompt = messages.find(({ role }) => role === 'user')?.texts.at(-1) ?? '';
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (prompt.startsWith('Resolve')) {
    if (turn > 0) return says('Both ports are there.');
    told.push(prompt);
    const both = '  "port": 3000,\n  "apiPort": 8080\n';
    return callsTo('e', 'code_edit', { path: 'package.json', old: '  "port": 3000\n', new: both });
  }
  const side = prompt.includes('frontend') ? 'frontend' : 'backend';
  const [line, file] = side === 'frontend' ? ['"port": 3000', 'page.html'] : ['"port": 8080', 'server.js'];
  if (turn === 0) passes[side] += 1;
  if (passes[side] === 1) {
    if (turn === 0) return callsTo('w', 'code_write', { path: file, content: `${side} of the shop\n` });
    return says('{"compiles": false}');
  }
  if (turn === 0) return callsTo('e', 'code_edit', { path: 'package.json', old: '"port": 0', new: line });
  return says('{"compiles": true}');
}

test('two sides build at once, their conflict comes back as data, a model resolves it, and the branch has all', async () => {
  const { result } = await harness.run(asWritten(), { inputs: { taskName: 'shop', taskDescription: 'a shop' } });
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: {
      branch: 'feature/shop',
      frontend: { branch: 'feature/shop.frontend-work', iterations: 2 },
      backend: { branch: 'feature/shop.backend-work', iterations: 2 },
      mergeResult: {
        into: 'feature/shop',
        merged: [{ branch: 'feature/shop.frontend-work' }],
        conflicts: [
          {
            branch: 'feature/shop.backend-work',
            path: 'package.json',
            kind: 'both-changed',
            hunks: [{ line: 3, ours: '  "port": 3000\n', base: '  "port": 0\n', theirs: '  "port": 8080\n' }],
          },
        ],
      },
    },
  });
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('"theirs":"  \\"port\\": 8080\\n"');
  const at = (path: string): string => git(harness.project, 'show', `feature/shop:${path}`);
  expect([at('page.html'), at('server.js')]).toEqual(['frontend of the shop\n', 'backend of the shop\n']);
  expect(at('package.json')).toBe('{\n  "name": "shop",\n  "port": 3000,\n  "apiPort": 8080\n}\n');
  expect(result.outputs).not.toHaveProperty('unmerged');
  expect(git(harness.project, 'status', '--porcelain')).toBe('');
});
