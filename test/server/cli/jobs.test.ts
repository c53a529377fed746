/** The examples that do a job without a model, for real: hunting flaky tests, deploying, counting, reviewing, gating a CI. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../../language/json.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { root } from '../../project/tree.ts';
import { Harness, until } from '../harness/harness.ts';
import { shipped } from '../harness/models/shipped.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  expect(await harness.command('up')).toMatchObject({ code: 0 });
});
afterAll(() => harness.close());
beforeEach(() => {
  for (const name of ['count', 'deployed']) rmSync(join(harness.project, name), { force: true });
});

const example = (name: string): string => join(root, 'sentinels', 'examples', `${name}.json`);
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed']);
const published = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'step-finished' && event.step === 'emit' ? [event.label] : []));
const inProject = (name: string): string => readFileSync(join(harness.project, name), 'utf8').trim();

test('flaky-hunter: a test that fails every third time is flaky, and run exits with 1', async () => {
  const flaky = 'n=$(cat count 2>/dev/null || echo 0); n=$((n+1)); echo $n > count; test $((n % 3)) -ne 0';
  const { code, out } = await harness.command('run', example('flaky-hunter'), '--json', '--input', `test=${flaky}`);
  const report = JSON.parse(out.trim().split('\n').at(-1) ?? '') as JsonObject;
  expect(code).toBe(1);
  expect(report).toMatchObject({ outcome: 'failed', failure: { code: 'FLAKY' } });
  expect(inProject('count')).toBe('10');
  const { result } = await harness.run(shipped('flaky-hunter'), { inputs: { test: 'true', runs: 2 } });
  expect(result).toMatchObject({ outcome: 'completed', outputs: { runs: 2, failures: 0, rate: 0 } });
});

const deployment = {
  deploy: 'echo v2 > deployed',
  check: 'grep -q v2 deployed',
  rollback: 'echo v1 > deployed',
  settleMs: 200,
};

/** A run that asks, answered from the command line. */
async function deployed(inputs: JsonObject, choice: string): Promise<{ result: JsonObject; events: RunEvent[] }> {
  const handle = await harness.start(shipped('deploy-with-approval'), { inputs: { ...deployment, ...inputs } });
  await until(async () => (await harness.store.inbox.list({ handle })).some(({ state }) => state === 'open'));
  expect(existsSync(join(harness.project, 'deployed'))).toBe(false);
  expect(await harness.command('answer', handle, choice)).toMatchObject({ code: 0 });
  const result = (await harness.result(handle)) as unknown as JsonObject;
  return { result, events: await harness.events(handle) };
}

test('deploy-with-approval: what is approved and well stays', async () => {
  const { result, events } = await deployed({}, 'approve');
  expect(result).toMatchObject({ outcome: 'completed', outputs: { target: 'production' } });
  expect(published(events)).toEqual(['deploy:done']);
  expect(inProject('deployed')).toBe('v2');
});

test('deploy-with-approval: what is refused is not deployed', async () => {
  const { result } = await deployed({}, 'reject');
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'DEPLOY_REFUSED' } });
  expect(existsSync(join(harness.project, 'deployed'))).toBe(false);
});

test('deploy-with-approval: what is not well is rolled back', async () => {
  const { result, events } = await deployed({ check: 'echo look >> count; false' }, 'approve');
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'DEPLOY_ROLLED_BACK' } });
  expect(published(events)).toEqual([]);
  expect(inProject('count').split('\n')).toHaveLength(3);
  expect(inProject('deployed')).toBe('v1');
});

test('nightly-todos: a schedule counts, keeps the number, and tells of more than the night before', async () => {
  writeFileSync(join(harness.project, 'a.ts'), '// TODO: one\nconst todo = 1;\n');
  onTestFinished(() => rmSync(join(harness.project, 'a.ts'), { force: true }));
  const name = 'nightly-todos-of-this-test';
  expect(await harness.command('schedule', 'create', example('nightly-todos'), '--id', name)).toMatchObject({
    code: 0,
  });
  onTestFinished(async () => void (await harness.command('schedule', 'delete', name)));
  const night = async (count: number): Promise<void> => {
    expect(await harness.command('schedule', 'trigger', name)).toMatchObject({ code: 0 });
    await until(async () => (await harness.rows('todos')).length === count);
  };
  await night(1);
  // A run that is started by hand has the second in its handle.
  await sleep(1000);
  writeFileSync(join(harness.project, 'a.ts'), '// TODO: one\n// FIXME: two\n// TODO: three\n');
  await night(2);
  expect((await harness.rows('todos')).map(({ count }) => count)).toEqual([1, 3]);
  const runs = async () =>
    (await harness.store.runs.list({ status: 'completed' })).filter((run) => run.name === 'nightly-todos');
  await until(async () => (await runs()).length === 2);
  const told = await Promise.all((await runs()).map(async ({ handle }) => published(await harness.events(handle))));
  expect(told.toSorted((a, b) => a.length - b.length)).toEqual([[], ['todos:more']]);
});

test('on-push-review: hooks start it, a clean push passes, and a bad one fails with what was found', async () => {
  const remote = mkdtempSync(join(tmpdir(), 'sentinel-remote-'));
  onTestFinished(() => rmSync(remote, { recursive: true }));
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: harness.project,
      env: { ...process.env, ...harness.env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  git('init', '-q', '-b', 'main');
  git('init', '-q', '--bare', remote);
  git('remote', 'add', 'origin', remote);
  expect(await harness.command('trigger', 'add', example('on-push-review'), '--project', '.')).toMatchObject({
    code: 0,
  });
  expect(await harness.command('hooks', 'install')).toMatchObject({ code: 0 });
  const push = (content: string): void => {
    writeFileSync(join(harness.project, 'debugger.js'), content);
    git('add', 'debugger.js');
    git('commit', '-qm', 'a change');
    git('push', '-q', 'origin', 'main');
  };
  const ended = async () =>
    (await harness.store.runs.list({})).filter((run) => run.name === 'on-push-review' && ENDED.has(run.status));
  push('export const one = 1;\n');
  await until(async () => (await ended()).length === 1);
  push('export const one = 1;\nconsole.log(one);\n');
  await until(async () => (await ended()).length === 2);
  const results = await Promise.all((await ended()).map(({ handle }) => harness.result(handle)));
  expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['completed', 'failed']);
  const failure = results.find(({ outcome }) => outcome === 'failed')?.failure;
  expect(failure).toMatchObject({ code: 'REVIEW_REFUSED' });
  expect(failure?.message).toContain('+console.log(one);');
});

test('map-packages: a command runs in each package, some at a time, and what failed is said', async () => {
  const names = ['api', 'cli', 'docs', 'web', 'worker'];
  for (const name of names) {
    mkdirSync(join(harness.project, 'packages', name), { recursive: true });
    writeFileSync(
      join(harness.project, 'packages', name, 'check.sh'),
      name === 'web' ? 'echo $0 is red >&2; exit 3' : 'pwd',
    );
  }
  writeFileSync(join(harness.project, 'packages', 'README.md'), 'no package');
  const inputs = { command: 'sh check.sh' };
  const { result } = await harness.run(shipped('map-packages'), { inputs });
  expect(result).toMatchObject({
    outcome: 'failed',
    failure: { code: 'PACKAGES_FAIL' },
    outputs: { packages: 5, failed: ['web/'] },
  });
  expect(result.failure?.message).toContain('check.sh is red');
  writeFileSync(join(harness.project, 'packages', 'web', 'check.sh'), 'pwd');
  const { code, out } = await harness.command(
    'run',
    example('map-packages'),
    '--json',
    '--input',
    'command=sh check.sh',
  );
  expect({ code, report: JSON.parse(out.trim().split('\n').at(-1) ?? '') as JsonObject }).toMatchObject({
    code: 0,
    report: { outcome: 'completed', outputs: { packages: 5, failed: [] } },
  });
});

/** The command of the step of the workflow in docs/ci.md that runs the gate. */
function gateOfDocs(): string {
  const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs', 'ci.md'), 'utf8')) ?? [];
  const workflow = parse(text) as { jobs: { gate: { steps: Array<{ name?: string; run?: string }> } } };
  return workflow.jobs.gate.steps.find(({ name }) => name === 'Run the gate')?.run ?? '';
}

test('ci-gate: the command of docs/ci.md is green when all passes, and red with what was said when it does not', async () => {
  const [launcher, program, verb = '', file, ...rest] = gateOfDocs().split(' ');
  expect([launcher, program, verb, file]).toEqual(['npx', 'sentinel-engine', 'run', 'sentinels/gate.json']);
  const gate = (line: string) =>
    harness.command(
      verb,
      example('ci-gate'),
      ...rest,
      '--input',
      'lint=true',
      '--input',
      `test=${line}`,
      '--input',
      'build=touch built',
    );
  const red = await gate('echo 1 of 3 tests failed >&2; exit 3');
  expect(red.code).toBe(1);
  expect(red.out + red.err).toContain('1 of 3 tests failed');
  expect(existsSync(join(harness.project, 'built'))).toBe(false);
  expect(await gate('true')).toMatchObject({ code: 0 });
  expect(existsSync(join(harness.project, 'built'))).toBe(true);
});
