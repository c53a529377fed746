/** The examples that work beside a process: build-fix, test-watch, deploy-pipeline, and its tree. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { Harness } from '../harness/harness.ts';
import { callsTo, ModelDouble, says } from '../harness/models/model-double.ts';
import { shipped } from '../harness/models/shipped.ts';

let harness: Harness;
const model = new ModelDouble();
beforeAll(async () => {
  await model.open();
  model.double.route('/v1/models', {
    status: 200,
    pieces: [JSON.stringify({ object: 'list', data: [{ id: 'some-model' }] })],
  });
});
afterAll(() => model.close());
beforeEach(async () => {
  harness = await Harness.open();
  await harness.startWorker(model.env);
});
afterEach(async () => {
  await harness.close();
  model.double.forget();
});

const source = (): string => readFileSync(join(harness.project, 'main.js'), 'utf8');
const broken = 'export const answer = ;\n';
const build = 'cp main.js main.mjs && node --check main.mjs';

/** What the model does in its first turn of each pass; then it says that it is done. */
function modelWrites(content: string): void {
  model.double.answer(wire.path, (body) =>
    wire.messages(body).some(({ role }) => role === 'assistant')
      ? says('It is done.')
      : callsTo('write', 'code_write', { path: 'main.js', content }),
  );
}

const published = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'step-finished' && event.step === 'emit' ? [event.label] : []));

test('build-fix: a build that fails is fixed by a model, shown by changes and taken back by undo', async () => {
  writeFileSync(join(harness.project, 'main.js'), broken);
  modelWrites('export const answer = 42;\n');
  const { handle, result, events } = await harness.run(shipped('build-fix'), { inputs: { build } });
  expect(result).toMatchObject({ outcome: 'completed', iterations: 2 });
  expect(published(events)).toEqual(['build:passed']);
  const asked = JSON.stringify(model.turns);
  expect(asked).toContain('SyntaxError');
  expect(source()).toBe('export const answer = 42;\n');
  const { out } = await harness.command('changes', handle, 'steps.2');
  expect(out).toContain('-export const answer = ;\n+export const answer = 42;\n');
  expect(await harness.command('undo', handle, 'steps.2', '--only')).toMatchObject({ code: 0 });
  expect(source()).toBe(broken);
});

test('build-fix: a model that edits badly leaves the project as it was', async () => {
  writeFileSync(join(harness.project, 'main.js'), broken);
  modelWrites('export const answer = = 42;\n');
  const { result, events } = await harness.run(shipped('build-fix'), { inputs: { build } });
  expect(result).toMatchObject({ outcome: 'stopped', limit: 'maxIterations', iterations: 5 });
  expect(published(events)).toEqual(['build:given-up']);
  expect(source()).toBe(broken);
});

test('test-watch: each result is published as it comes', async () => {
  const { result, events } = await harness.run(shipped('test-watch'), {
    inputs: { test: 'echo "Tests  2 failed | 1 passed"; sleep 0.5; echo "Tests  3 passed"; sleep 0.5' },
  });
  expect(result.outcome).toBe('completed');
  expect(published(events)).toEqual(['tests:failed', 'tests:passed', 'tests:ended']);
});

const remotes: string[] = [];
afterAll(() => {
  for (const remote of remotes) rmSync(remote, { recursive: true });
});

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd: harness.project,
    encoding: 'utf8',
  });

/** The project as a repository with one commit, and a remote that has nothing yet. */
function withRemote(): void {
  const remote = mkdtempSync(join(tmpdir(), 'sentinel-remote-'));
  remotes.push(remote);
  execFileSync('git', ['init', '-q', '--bare', remote]);
  git('init', '-q', '-b', 'main');
  writeFileSync(join(harness.project, 'main.js'), broken);
  git('add', 'main.js');
  git('commit', '-qm', 'first');
  git('remote', 'add', 'origin', remote);
}

test('deploy-pipeline: what is tested and built is pushed and verified, and nothing else is', async () => {
  withRemote();
  const verify = 'test "$(git ls-remote origin main | cut -f1)" = "$(git rev-parse HEAD)"';
  const inputs = { test: 'true', build: 'exit 1', verify, branch: 'main' };
  const refused = await harness.run(shipped('deploy-pipeline'), { inputs });
  expect(published(refused.events)).toEqual(['deploy:failed']);
  expect(git('ls-remote', 'origin')).toBe('');
  const { result, events } = await harness.run(shipped('deploy-pipeline'), { inputs: { ...inputs, build: 'true' } });
  expect(result.outcome).toBe('completed');
  expect(published(events)).toEqual(['deploy:done']);
  expect(git('ls-remote', 'origin', 'main')).toContain('refs/heads/main');
});

test('deploy-tree: each test file, the build beside the types, and the push with its look at CI are sentinels of their own', async () => {
  withRemote();
  writeFileSync(join(harness.project, 'package.json'), JSON.stringify({ scripts: { coverage: 'echo covered' } }));
  const inputs = { tests: ['one.js', 'two.js'], build: 'true', typecheck: 'exit 2', ci: 'true' };
  const refused = await harness.run(shipped('deploy-tree'), { inputs });
  expect(refused.result).toMatchObject({ outcome: 'failed', failure: { code: 'CHILD_FAILED' } });
  expect(git('ls-remote', 'origin')).toBe('');
  const ci = 'test -e looked || { touch looked; exit 1; }';
  const { handle, result, events } = await harness.run(shipped('deploy-tree'), {
    inputs: { ...inputs, typecheck: 'true', ci },
  });
  expect(result.failure).toBeUndefined();
  expect(result).toMatchObject({ outcome: 'completed', outputs: { pushed: { passed: true } } });
  expect(published(events)).toEqual(['deploy:tree']);
  expect(git('ls-remote', 'origin', 'main')).toContain('refs/heads/main');
  const runs = await harness.store.runs.list({ limit: 50 });
  const names = runs.filter((run) => run.handle.startsWith(`${handle}/`)).map(({ name }) => name);
  expect(names.toSorted()).toEqual(['build', 'coverage', 'coverage', 'push', 'test', 'typecheck', 'verify-ci']);
});
