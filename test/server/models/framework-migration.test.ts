/**
 * The migration of a framework as its author wrote it: the plan that bounds the loop is made inside its first pass. The
 * model is a double at the wire; put in are its name, and fewer passes for the file that never passes its tests.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
const FILES = ['src/users.ts', 'src/orders.ts', 'src/legacy.ts'];
const nameIn = (text: string): string => /\/(users|orders|legacy)/.exec(text)?.[1] ?? '';

/** A test of a file is a line of script; the project's own runner takes it by name. */
const RUNNER = `const { readFileSync } = require('node:fs');
new Function('source', readFileSync(process.argv[2], 'utf8'))(readFileSync(process.argv[2].replace('.test.ts', '.ts'), 'utf8'));
`;

beforeAll(async () => {
  await model.open();
  model.double.answer(wire.path, answer);
  harness = await Harness.open();
  const put = (path: string, text: string): void => writeFileSync(join(harness.project, path), text);
  mkdirSync(join(harness.project, 'src'));
  put('run-test.cjs', RUNNER);
  put('package.json', JSON.stringify({ name: 'shop', private: true, scripts: { test: 'node run-test.cjs' } }));
  put('.gitignore', '.sentinel\n');
  for (const file of FILES) {
    put(file, `app.get('/${nameIn(file)}', handler);\n`);
    put(file.replace('.ts', '.test.ts'), `if (!source.startsWith('fastify.')) throw new Error('not migrated');\n`);
  }
  commitAll(harness.project);
  await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

function asWritten(): Definition {
  const file = join(root, 'test/cases/definitions/as-written/olympic-1.1-framework-migration.json');
  const text = readFileSync(file, 'utf8').replaceAll('claude-opus-4-5-20251101', MODEL);
  const written = (JSON.parse(text) as { definition: JsonObject }).definition;
  const read = parseDefinition({ ...written, safety: { maxIterations: 4, timeoutMs: 3_600_000 } }, { catalogue });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.definition;
}

/** How often each file was converted. */
const tries: { [name: string]: number } = {};

/** One file is right at once, one the second time, and one never. */
function answer(body: JsonObject): Reply {
  const messages = wire.messages(body);
  const prompt = messages.find(({ role }) => role === 'user')?.texts.at(-1) ?? '';
  if (prompt.startsWith('Plan')) return says(JSON.stringify({ files: FILES }));
  if (messages.some(({ role }) => role === 'assistant')) return says('Converted.');
  const name = nameIn(prompt);
  const count = (tries[name] ?? 0) + 1;
  tries[name] = count;
  const isRight = name === 'users' || (name === 'orders' && count > 1);
  const content = `${isRight ? 'fastify' : 'app'}.get('/${name}', async () => handler());\n`;
  return callsTo('w', 'code_write', { path: `src/${name}.ts`, content });
}

test('the files whose tests pass are staged, and no other', async () => {
  const { result, events } = await harness.run(asWritten());
  expect(result).toMatchObject({ outcome: 'completed', iterations: 3 });
  expect(tries).toEqual({ users: 1, orders: 2, legacy: 4 });
  expect(git(harness.project, 'diff', '--cached', '--name-only')).toBe('src/orders.ts\nsrc/users.ts\n');
  const escalated = events.filter(
    ({ type, ...rest }) => type === 'step-finished' && 'step' in rest && rest.step === 'emit',
  );
  expect(escalated).toMatchObject([{ key: 'steps.3.else.0@3', label: 'sentinel:migration:escalate', outcome: 'ok' }]);
});
