/** The verbs that look at a run and change it, as a person uses them: on a run under way, through its handle. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import { counted, once, shell } from '../harness/definitions.ts';
import { Harness, until, type Said } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const sentinel = (...args: string[]): Promise<Said> => harness.command(...args);
const documentOf = async (...args: string[]): Promise<Json> =>
  JSON.parse((await sentinel(...args, '--json')).out) as Json;
const open = (name: string): void => writeFileSync(join(harness.project, name), '');
const waitsFor = (name: string): ReturnType<typeof shell> => shell(`while [ ! -e ${name} ]; do sleep 0.1; done`);

/** A run that waits in its third level: HANDLE/steps.1@1/steps.0@1. */
async function threeLevels(handle: string, gate: string): Promise<void> {
  const inner = once('inner', [waitsFor(gate), shell('echo old >> deep'), shell('echo last >> deep')]);
  const middle = counted('middle', 2, [{ type: 'sentinel', definition: inner }, shell('echo middle >> deep')]);
  await harness.start(
    once('outer', [shell('echo first'), { type: 'sentinel', definition: middle }, shell('echo done >> deep')]),
    { handle },
  );
  await until(async () => (await harness.store.runs.find(`${handle}/steps.1@1/steps.0@1`)) !== null);
  await harness.untilEvent(`${handle}/steps.1@1/steps.0@1`, (event) => event.type === 'step-started');
}

describe('a run that is edited where it waits, three runs deep', () => {
  const deep = 'steps.1@1/steps.0@1';
  beforeAll(() => threeLevels('deep', 'gate'));

  test('is listed and changed through its outermost handle, and shows what changed', async () => {
    const listed = await sentinel('step', 'list', 'deep', deep);
    expect(listed.out).toMatch(/^deep\/steps\.1@1\/steps\.0@1 is at revision 0, pass 1\.$/m);
    expect(listed.out).toMatch(/^steps\.0 +under-way +- +shell/m);
    const updated = await sentinel(
      'step',
      'update',
      'deep',
      `${deep}/steps.1`,
      '--step',
      '{"type": "shell", "cmd": "echo new >> deep"}',
      '--note',
      'better',
    );
    expect(updated).toMatchObject({ code: 0, err: '' });
    expect(updated.out).toContain('-  "command": "echo old >> deep"\n+  "command": "echo new >> deep"');
    expect(updated.out).toContain('deep/steps.1@1/steps.0@1 is at revision 1.');
    expect(
      await documentOf(
        'step',
        'add',
        'deep',
        `${deep}/steps.2`,
        '--step',
        '{"type": "shell", "command": "echo added >> deep"}',
      ),
    ).toMatchObject({ ok: true, handle: `deep/${deep}`, revision: 2, from: 'now', before: null });
    expect(
      await documentOf('step', 'update', 'deep', 'steps.2', '--params', '{"command": "echo over >> deep"}'),
    ).toMatchObject({
      handle: 'deep',
      before: { command: 'echo done >> deep' },
      after: { type: 'shell', command: 'echo over >> deep' },
    });
    expect((await sentinel('step', 'skip', 'deep', `${deep}/steps.3`)).out).toContain(
      'steps.3 is skipped the next time it is reached',
    );
    // The run around it goes on to a second pass, so what it has passed can still be changed there.
    expect(await documentOf('step', 'list', 'deep', 'steps.1@1')).toMatchObject({
      steps: [
        { path: 'steps.0', state: 'under-way', editable: null },
        {},
        {},
        {},
        { path: 'steps.1', editable: 'now' },
      ],
    });
  });

  test.each([
    [
      'is stale',
      ['remove', 'deep', `${deep}/steps.1`, '--revision', '0'],
      2,
      /is at revision 3 and the edit was made for 0/,
    ],
    [
      'is under way',
      ['remove', 'deep', `${deep}/steps.0`],
      2,
      /"steps\.0" of deep\/steps\.1@1\/steps\.0@1 is under way/,
    ],
    ['is past', ['remove', 'deep', 'steps.0'], 2, /"steps\.0" of deep is past .* fork the run\./],
    [
      'is nowhere',
      ['skip', 'deep', `${deep}/steps.7`],
      2,
      /has no place "steps\.7"; write one of steps\.0, steps\.1, steps\.2, steps\.3; the nearest is steps\.3\.\n$/,
    ],
    [
      'is no path',
      ['remove', 'deep', 'E1'],
      2,
      /^sentinel: deep has no place "E1"; write one of steps\.0, steps\.1, steps\.1\.definition\.steps\.0, .*, steps\.2\.\n$/,
    ],
    [
      'is too far behind',
      ['add', 'deep', 'steps.9', '--step', '{"type": "shell", "command": "true"}'],
      2,
      /has no place "steps\.9"; write one of .*, steps\.3, .*; the nearest is steps\.3\.\n$/,
    ],
    [
      'is of a run that is called otherwise',
      ['remove', 'deap', 'steps.0'],
      4,
      /^sentinel: There is no run "deap"; write "deep", or look: "sentinel list" shows those there are\.\n$/,
    ],
    ['is no step', ['add', 'deep', `${deep}/steps.1`, '--step', '{"type": "nope"}'], 2, /would not be valid: /],
    [
      'is in a run that has not begun',
      ['skip', 'deep', 'steps.1@2/steps.0'],
      4,
      /^sentinel: deep has started no run at "steps\.1@2"; the latest that it has started: steps\.1@1\.$/m,
    ],
    ['is of no run at all', ['skip', 'nobody', 'steps.0'], 4, /There is no run "nobody"/],
  ])('refuses what %s', async (_what, args, code, finding) => {
    const refused = await sentinel('step', ...args);
    expect(refused).toMatchObject({ code, out: '' });
    expect(refused.err).toMatch(finding);
  });

  test('does what it was edited to do, is drawn so, and comes out again as a test', async () => {
    open('gate');
    await harness.result('deep');
    expect(readFileSync(join(harness.project, 'deep'), 'utf8').trim().split('\n')).toEqual([
      'new',
      'added',
      'middle',
      'old',
      'last',
      'middle',
      'over',
    ]);
    const graph = (await documentOf('graph', `deep/${deep}`)) as unknown as {
      nodes: { path: string; label: string; change?: string; state?: { outcome: string } }[];
    };
    const drawn = graph.nodes.flatMap(({ path, label, change, state }) =>
      path.startsWith('steps.') ? [[path, label.slice(0, 10), state?.outcome, change].join(' ')] : [],
    );
    expect(drawn).toEqual([
      'steps.0 while [ !  ok ',
      'steps.1 echo new > ok updated',
      'steps.2 echo added ok added',
      'steps.3 echo last  skipped ',
    ]);
    const late = await sentinel('step', 'remove', 'deep', 'steps.2');
    expect(late).toMatchObject({ code: 1, err: 'sentinel: deep has ended (completed); there is nothing to edit.\n' });
    expect(await sentinel('test', '--record', 'deep', '--out', 'deep.sentinel-test.json')).toMatchObject({
      code: 0,
      err: '',
    });
    expect(await sentinel('test', 'deep.sentinel-test.json')).toMatchObject({ code: 0 });
  });

  test('is replayed, forked and compared', async () => {
    expect(await sentinel('replay', `deep/${deep}`)).toMatchObject({ code: 0 });
    expect(await sentinel('fork', `deep/${deep}`, '--at', 'steps.2~3@1', '--id', 'forked')).toMatchObject({ code: 0 });
    const same = await sentinel('diff', `deep/${deep}`, 'forked');
    expect(same.out).toMatch(/the same: 2 steps, 2 done before the fork/);
    expect(same.code).toBe(0);
    expect(await sentinel('diff', 'deep', 'forked')).toMatchObject({ code: 1 });
    expect((await sentinel('fork', 'deep', '--at', `${deep}/steps.1~1@1`)).err).toContain(
      `fork that run, "sentinel fork deep/${deep} --at steps.1~1@1"`,
    );
    expect(await sentinel('fork', 'deep', '--at', 'steps.9@1', '--json')).toMatchObject({
      code: 2,
      out: expect.stringContaining('"FORK_KEY_NOT_REACHED"') as string,
    });
  });
});

describe('a run that asks', () => {
  const form: JsonObject = { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] };
  const asks = once('asks', [{ type: 'approval', message: 'Which?', form }]);

  test('is seen from the run around it, with what it asks and how to answer', async () => {
    await harness.start(once('around', [{ type: 'sentinel', definition: asks }]), { handle: 'around' });
    await harness.untilEvent('around/steps.0@1', (event) => event.type === 'asked');
    const command = `sentinel answer around/steps.0@1 steps.0@1 approve --data '{"version":"text"}'`;
    const status = await sentinel('status', 'around');
    expect(status.out).toContain('waits: the nested run asks (around/steps.0@1) for an answer to steps.0@1\n');
    expect(status.out).toContain(
      `needs --data with version (text)\n    ${command}\n    sentinel answer around/steps.0@1 steps.0@1 reject|abort\n`,
    );
    expect(await documentOf('status', 'around')).toMatchObject({
      status: 'running',
      waiting: [{ handle: 'around/steps.0@1', name: 'asks', reason: null, questions: ['steps.0@1'] }],
    });
    expect((await sentinel('list')).out).toMatch(/^around +around +running, a nested run waits /m);
    expect(await sentinel('follow', 'around')).toMatchObject({
      code: 3,
      err: expect.stringContaining(command) as string,
    });
    expect(await documentOf('pause', 'around')).toMatchObject({ ok: true });
    expect(await documentOf('status', 'around')).toMatchObject({
      status: 'paused',
      waiting: [{ questions: ['steps.0@1'] }],
    });
    await sentinel('resume', 'around');
    await sentinel('answer', 'around', 'approve', '--data', '{"version": "2"}');
    expect(await harness.result('around')).toMatchObject({ outcome: 'completed' });
    expect(await documentOf('status', 'around')).toMatchObject({ waiting: [], questions: [] });
  });

  test('is not said of one that is held with the run around it', async () => {
    await harness.start(
      once('held-around', [{ type: 'sentinel', definition: once('works', [waitsFor('held'), shell('true')]) }]),
      { handle: 'held-around' },
    );
    await harness.untilEvent('held-around/steps.0@1', (event) => event.type === 'step-started');
    await sentinel('pause', 'held-around');
    open('held');
    await harness.untilEvent('held-around/steps.0@1', (event) => event.type === 'paused');
    expect(await documentOf('status', 'held-around')).toMatchObject({ status: 'paused', waiting: [] });
    await sentinel('resume', 'held-around');
    expect(await harness.result('held-around')).toMatchObject({ outcome: 'completed' });
  });

  test('in its clean-up says so to whoever cancels it', async () => {
    const always = [{ type: 'approval' as const, message: 'All clean?' }];
    await harness.start(once('cleans', [shell('sleep 300')], { always }), { handle: 'cleans' });
    await harness.untilEvent('cleans', (event) => event.type === 'step-started');
    const cancelled = await sentinel('cancel', 'cleans');
    expect(cancelled).toMatchObject({ code: 3 });
    expect(cancelled.out).toMatch(
      /^cleans is cleaning up and asks before it ends:\n {2}asks: All clean\?\n {4}sentinel answer cleans always\.0@1 approve\|reject\|abort\n/,
    );
    expect(await documentOf('cancel', 'cleans')).toMatchObject({
      ok: true,
      outcome: null,
      questions: [{ id: 'always.0@1' }],
    });
    await sentinel('answer', 'cleans', 'approve');
    expect(await harness.result('cleans')).toMatchObject({ outcome: 'cancelled' });
  });
});
