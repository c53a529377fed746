/**
 * What is approved of `code/verify` are the lines that were shown. Somebody changes what the project configures between
 * the question and the answer, or while the first check runs; beside each stands the same approval of a project left alone.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../language/json.ts';
import type { LlmStep, Step } from '../../../../language/model.ts';
import { once } from '../../harness/definitions.ts';
import { useAttacked } from '../attempts/run-attempts.ts';

const attacked = useAttacked();

const put = (path: string, content: string | object): void => {
  mkdirSync(join(attacked.harness.project, path, '..'), { recursive: true });
  writeFileSync(join(attacked.harness.project, path), typeof content === 'string' ? content : JSON.stringify(content));
};
const ran = (folder: string): string[] => {
  const file = join(attacked.harness.project, folder, 'ran');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};
/** A script's line that says that it ran. */
const line = (word: string): string => `echo ${word} >> ran`;
const scriptsOf = (folder: string, lines: JsonObject): void => put(`${folder}/package.json`, { scripts: lines });
const verify = (path: string, rest: JsonObject = {}): Step => ({
  type: 'command',
  command: 'code/verify',
  params: { path, ...rest },
});

/** Starts a run that asks before it verifies a folder, and waits for the question. */
async function asked(handle: string, step: Step, key = 'steps.0@1'): Promise<string> {
  await attacked.harness.start(once(handle, [step], { safety: { requireApproval: ['shell'] } }), { handle });
  await attacked.harness.untilEvent(handle, (event) => event.type === 'asked' && event.question.id === key);
  return (await attacked.harness.command('inbox', 'show', handle)).out;
}
const approve = async (handle: string): Promise<void> => {
  const question = (await attacked.harness.command('inbox', 'show', handle, '--json')).out;
  const { digest } = JSON.parse(question) as { digest: string };
  expect(await attacked.harness.command('answer', handle, 'approve', '--digest', digest)).toMatchObject({ code: 0 });
};
const questionsOf = async (handle: string): Promise<number> =>
  (await attacked.harness.events(handle)).filter(({ type }) => type === 'asked').length;

test('a question about checks shows the lines of their scripts, and these run', async () => {
  scriptsOf('checks-kept', { pretest: line('before'), test: line('shown'), posttest: line('after') });
  put('checks-kept/.npmrc', 'fund=false\n//registry.example/:_authToken=abc-secret\n');
  const shown = await asked('checks-kept', verify('checks-kept'));
  for (const said of [line('before'), line('shown'), line('after'), 'fund=false']) expect(shown).toContain(said);
  expect(shown).not.toContain('abc-secret');
  await approve('checks-kept');
  expect(await attacked.harness.result('checks-kept')).toMatchObject({ outcome: 'completed' });
  expect(ran('checks-kept')).toEqual(['before', 'shown', 'after']);
});

test.each<[string, () => void]>([
  ['the script', () => scriptsOf('checks-script', { test: line('other') })],
  ['a script around it', () => scriptsOf('checks-around', { pretest: line('other'), test: line('shown') })],
  ['a setting', () => put('checks-setting/.npmrc', 'script-shell=/usr/bin/env\n')],
  ['a check before it', () => put('checks-more/tsconfig.json', {})],
])('%s changes between question and answer: nothing runs', async (what, change) => {
  const folder =
    { 'the script': 'checks-script', 'a script around it': 'checks-around', 'a setting': 'checks-setting' }[what] ??
    'checks-more';
  scriptsOf(folder, { test: line('shown') });
  await asked(folder, verify(folder));
  change();
  await approve(folder);
  expect(await attacked.harness.result(folder)).toMatchObject({
    outcome: 'failed',
    failure: { code: 'ACTION_CHANGED' },
  });
  expect(ran(folder)).toEqual([]);
});

test('with retry the step shows the lines as they are now, and asks again', async () => {
  scriptsOf('asked-again', { test: line('shown') });
  const step: Step = { ...verify('asked-again'), retry: { attempts: 2, backoffMs: 1 } };
  await asked('asked-again', step);
  scriptsOf('asked-again', { test: line('other') });
  await approve('asked-again');
  await attacked.harness.untilEvent(
    'asked-again',
    (event) => event.type === 'asked' && event.question.id !== 'steps.0@1',
  );
  expect((await attacked.harness.command('inbox', 'show', 'asked-again')).out).toContain(line('other'));
  expect(ran('asked-again')).toEqual([]);
  await approve('asked-again');
  expect(await attacked.harness.result('asked-again')).toMatchObject({ outcome: 'completed' });
  expect(ran('asked-again')).toEqual(['other']);
});

test('an edit that means other lines is asked about as those; one that means the same is not', async () => {
  scriptsOf('from', { test: line('shown') });
  scriptsOf('to', { test: line('other') });
  for (const [handle, path, questions] of [
    ['other-lines', 'to', 2],
    ['same-lines', 'from', 1],
  ] as const) {
    await asked(handle, verify('from'));
    const data = JSON.stringify({ params: { path, fullTest: true } });
    expect(await attacked.harness.command('answer', handle, 'edit', '--data', data)).toMatchObject({ code: 0 });
    if (questions === 2) {
      await attacked.harness.untilEvent(
        handle,
        (event) => event.type === 'asked' && JSON.stringify(event).includes('other'),
      );
      expect(ran('to')).toEqual([]);
      await approve(handle);
    }
    expect(await attacked.harness.result(handle)).toMatchObject({ outcome: 'completed' });
    expect(ran(path)).toHaveLength(1);
    expect(await questionsOf(handle)).toBe(questions);
  }
});

test('what a check changes does not lead the next one to another line', async () => {
  const change = `require('fs').writeFileSync('package.json', JSON.stringify({scripts: {test: ${JSON.stringify(line('other'))}}}))`;
  for (const [folder, content, outcome] of [
    ['turned', change, { outcome: 'failed', failure: { code: 'ACTION_CHANGED' } }],
    ['steady', '0', { outcome: 'completed' }],
  ] as const) {
    put(`${folder}/node_modules/.bin/tsc`, `#!/usr/bin/env node\n${content}\n`);
    chmodSync(join(attacked.harness.project, folder, 'node_modules', '.bin', 'tsc'), 0o755);
    put(`${folder}/tsconfig.json`, {});
    scriptsOf(folder, { test: line('shown') });
    await asked(folder, verify(folder));
    await approve(folder);
    expect(await attacked.harness.result(folder)).toMatchObject(outcome);
    expect(ran(folder)).toEqual(folder === 'steady' ? ['shown'] : []);
  }
});

test('a call of a model is held to the lines as a step is', async () => {
  for (const [folder, lines] of [
    ['called', ['shown']],
    ['misled', []],
  ] as const) {
    scriptsOf(folder, { test: line('shown') });
    attacked.scripts.set(folder, { handle: folder, turns: [[['code_verify', { path: folder }]]] });
    const step: LlmStep = {
      type: 'llm',
      model: 'openai/some-model',
      prompt: `${folder} Check it`,
      tools: ['code/verify'],
    };
    const key = 'steps.0@1/turn.1/call.0';
    expect(await asked(folder, step, key)).toContain(line('shown'));
    if (folder === 'misled') scriptsOf(folder, { test: line('other') });
    await approve(folder);
    expect(await attacked.harness.result(folder)).toMatchObject({ outcome: 'completed' });
    expect(ran(folder)).toEqual(lines);
    const codes = (await attacked.harness.events(folder)).flatMap((event) =>
      event.type === 'step-finished' && event.failure !== undefined ? [event.failure.code] : [],
    );
    expect(codes).toEqual(folder === 'misled' ? ['ACTION_CHANGED'] : []);
  }
});

test('where nothing is to be approved, a project is read when its checks run, and a folder without any fails unasked', async () => {
  scriptsOf('free', { test: line('free') });
  expect(await attacked.harness.run(once('free', [verify('free')]))).toMatchObject({
    result: { outcome: 'completed' },
  });
  expect(ran('free')).toEqual(['free']);
  mkdirSync(join(attacked.harness.project, 'empty'));
  const { result } = await attacked.harness.run(
    once('empty', [verify('empty')], { safety: { requireApproval: ['shell'] } }),
  );
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'NO_CHECKS_FOUND' } });
});
