/** The verbs that show what happened in a run, as processes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { create, once, shell } from '../harness/definitions.ts';
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

function write(definition: Definition): string {
  writeFileSync(join(harness.project, `${definition.name}.json`), JSON.stringify(definition));
  return `${definition.name}.json`;
}

describe('logs', () => {
  beforeAll(async () => {
    const inner = once('inner', [shell('echo deep; echo oops >&2')]);
    await harness.run(once('outer', [shell('echo first'), { type: 'sentinel', definition: inner }]), {
      handle: 'see-logs',
    });
    await harness.run(once('alone', [{ type: 'sentinel', definition: inner }]), { handle: 'see-alone' });
  });

  test('show what nested runs printed, each line with the key of its step', async () => {
    const { code, out, err } = await sentinel('logs', 'see-logs');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const nested = 'steps.1@1/steps.0@1';
    expect(out.split('\n').toSorted()).toEqual(['', 'steps.0@1  first', `${nested}  deep`, `${nested}  oops`]);
    expect((await sentinel('logs', 'see-logs', '--follow', '--stream', 'stdout')).out).toBe(`first\n${nested}  deep\n`);
  });

  test('of one step have no key; --step, --no-nested and --time choose', async () => {
    expect((await sentinel('logs', 'see-alone', '--stream', 'stdout')).out).toBe('deep\n');
    expect(await sentinel('logs', 'see-alone', '--no-nested')).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('no step of see-alone itself has printed anything; "sentinel trace') as string,
    });
    expect((await sentinel('logs', 'see-logs', '--stream', 'model')).err).toContain('has printed anything on model');
    expect((await sentinel('logs', 'see-logs', '--lines', '1')).out).toMatch(/^steps\.1@1\/steps\.0@1 {2}\w+\n$/);
    expect((await sentinel('logs', 'see-logs', '--no-nested')).out).toBe('first\n');
    expect((await sentinel('logs', 'see-logs', '--step', 'steps.1', '--stream', 'stderr')).out).toBe('oops\n');
    expect((await sentinel('logs', 'see-logs', '--step', 'steps.0', '--time')).out).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}first\n$/,
    );
    expect(await sentinel('logs', 'see-logs', '--step', 'steps.7')).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('nothing was printed by "steps.7"') as string,
    });
    expect(await documentOf('logs', 'see-logs', '--step', 'steps.0@1')).toMatchObject({
      handle: 'see-logs',
      lines: [
        { handle: 'see-logs', key: 'steps.0@1', stream: 'stdout', text: 'first', at: expect.any(Number) as number },
      ],
    });
  });
});

describe('run', () => {
  const numbers = shell('for n in 1 2 3 4 5 6 7 8 9 10 11; do echo "line $n" >&2; done; exit 3');
  const file = (): string =>
    write(once('breaks', [numbers, shell('echo fine >&2'), shell('exit 4', { failOn: 'nonzero' })]));

  test('shows the last ten lines of stderr of a step that ended non-zero, and none of one that did not', async () => {
    const { code, out } = await sentinel('run', file(), '--id', 'see-breaks');
    expect(code).toBe(1);
    expect(out).toMatch(/exit 3.*\n {2}│ line 2\n( {2}│ line \d+\n){8} {2}│ line 11\n✔ steps\.1@1/);
    expect(out).not.toContain('│ fine');
    const said = (await sentinel('follow', 'see-breaks', '--json')).out.trim().split('\n');
    const quoted = said.map((line) => JSON.parse(line) as JsonObject).filter(({ type }) => type === 'stderr');
    expect(quoted).toMatchObject([{ handle: 'see-breaks', key: 'steps.0@1' }]);
    expect(quoted[0]?.['lines']).toHaveLength(10);
  });

  test('shows these lines once, however many steps and runs stand around the step', async () => {
    const inner = once('inner', [{ ...numbers, failOn: 'nonzero' } as Step]);
    const loop = { type: 'count' as const, max: 1 };
    const steps: Step[] = [{ type: 'loop', loop, steps: [{ type: 'sentinel', definition: inner }] }];
    const { code, out } = await sentinel('run', write(once('around', steps)), '--id', 'see-around');
    const [followed = '', report] = out.split('\nfailed  1 pass');
    expect(code).toBe(1);
    expect(followed.match(/line \d+$/gm)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => `line ${n}`));
    expect(followed).toContain('it ended with exit code 3\n      │ line 2\n');
    expect(report).toContain('│ line 11');
    const trace = (await sentinel('trace', 'see-around')).out;
    expect(trace.match(/│ line \d+$/gm)).toHaveLength(10);
  });
});

describe('retry', () => {
  test('begins at the step that failed, and does nothing of what was done', async () => {
    const steps = [
      shell('echo once >> retried'),
      shell('test -e mended', { failOn: 'nonzero' }),
      shell('echo end >> retried'),
    ];
    expect((await sentinel('run', write(once('mends', steps)), '--id', 'see-mends')).out).toContain(
      'again from there: sentinel retry see-mends',
    );
    writeFileSync(join(harness.project, 'mended'), '');
    const { code, err } = await sentinel('retry', 'see-mends', '--id', 'see-mended');
    expect({ code, err }).toEqual({
      code: 0,
      err: 'sentinel: see-mends failed at steps.1@1; the new run begins there.\n',
    });
    expect(readFileSync(join(harness.project, 'retried'), 'utf8')).toBe('once\nend\n');
    expect(await sentinel('retry', 'see-mended', '--json')).toMatchObject({
      code: 1,
      out: expect.stringContaining('see-mended has not failed (completed)') as string,
    });
    expect(await sentinel('retry', 'see-nobody')).toMatchObject({ code: 4, out: '' });
  });

  test('performs the failed items of a list again, and says so', async () => {
    const item = shell('echo $item >> items; [ $item = 2 ] && [ ! -e items-mended ] && exit 4; echo item $item', {
      failOn: 'nonzero',
      outputTo: 'said',
    });
    const list: Step = { type: 'parallel', over: '[1, 2, 3]', steps: [item], itemErrors: 'collect', outputTo: 'all' };
    const file = write(once('see-list', [list]));
    expect((await sentinel('run', file, '--id', 'see-items')).out).toContain('3 items, 1 failed (1)');
    writeFileSync(join(harness.project, 'items-mended'), '');
    const { code, out, err } = await sentinel(
      'retry',
      'see-items',
      '--items',
      '1',
      '--at',
      'steps.0@1',
      '--id',
      'see-again',
    );
    expect({ code, err }).toEqual({
      code: 0,
      err: 'sentinel: of steps.0@1, 1 item is performed again (1), and 2 results are those of see-items\n',
    });
    expect(out).toContain('3 items, 2 retraced');
    expect(readFileSync(join(harness.project, 'items'), 'utf8').trim().split('\n').toSorted()).toEqual([
      '1',
      '2',
      '2',
      '3',
    ]);
    expect(await documentOf('status', 'see-again')).toMatchObject({
      origin: { type: 'fork', of: 'see-items', items: [{ at: 'steps.0@1', items: [1], performed: 1, kept: 2 }] },
    });
    expect(await sentinel('retry', 'see-again', '--items', 'two')).toMatchObject({ code: 2 });
    const client = new SentinelClient({ env: harness.env, startsServices: false });
    try {
      const retried = await client.retry('see-items', { items: 'failed', handle: 'see-by-program' });
      expect(retried).toMatchObject({ of: 'see-items', at: 'steps.0@1', items: [{ performed: 1, kept: 2 }] });
      expect(await client.result('see-by-program')).toMatchObject({ outcome: 'completed' });
      await expect(client.retry('see-by-program')).rejects.toMatchObject({ code: 'FORK_REFUSED' });
    } finally {
      await client.close();
    }
  });

  test('begins with the nested run in which the step is', async () => {
    const inner = once('inner', [shell('test -e later', { failOn: 'nonzero' })]);
    const file = write(once('holds', [shell('echo before >> held'), { type: 'sentinel', definition: inner }]));
    expect(await sentinel('run', file, '--id', 'see-holds')).toMatchObject({ code: 1 });
    writeFileSync(join(harness.project, 'later'), '');
    expect(await sentinel('retry', 'see-holds', '--id', 'see-held')).toMatchObject({
      code: 0,
      err: expect.stringContaining('see-holds failed at steps.1@1') as string,
    });
    expect(readFileSync(join(harness.project, 'held'), 'utf8')).toBe('before\n');
  });
});

describe('a run', () => {
  test('is found by the beginning of its handle, also around a nested run, and an exact handle comes first', async () => {
    const inner = once('inner', [shell('echo nested')]);
    const outer = once('found', [{ type: 'sentinel', definition: inner }]);
    for (const handle of ['found-abc', 'found-abcd', 'found-xyz']) await harness.run(outer, { handle });
    expect((await sentinel('logs', 'found-abc')).out).toBe('nested\n');
    expect(await documentOf('logs', 'found-x')).toMatchObject({ handle: 'found-xyz' });
    expect(await documentOf('status', 'found-x/steps.0@1')).toMatchObject({ handle: 'found-xyz/steps.0@1' });
    const several = await sentinel('status', 'found-');
    expect(several).toMatchObject({ code: 2, out: '' });
    expect(several.err).toMatch(/Several runs begin with "found-": found-xyz, found-abcd, found-abc\. Write more/);
    expect(await sentinel('status', 'found-q')).toMatchObject({ code: 4 });
  });

  test('is the latest of the project with --last', async () => {
    await harness.run(once('lasting', [shell('echo latest')]), { handle: 'see-last' });
    expect((await sentinel('logs', '--last', '--stream', 'stdout')).out).toBe('latest\n');
    expect(await documentOf('costs', '--last')).toMatchObject({ handle: 'see-last' });
    expect((await sentinel('diff', 'see-last', '--last')).out).toContain('see-last');
    expect((await sentinel('list', '--last')).err).toContain('unknown option "--last"');
    expect((await sentinel('logs', '--help')).out).toContain(
      '--last stands for the latest run that a person started in this folder',
    );
  });

  test('is listed by name, project and time', async () => {
    const [first] = (await documentOf('list', '--name', 'lasting')) as JsonObject[];
    expect(first).toMatchObject({ handle: 'see-last', name: 'lasting' });
    const handlesOf = async (...args: string[]): Promise<Json[]> =>
      ((await documentOf('list', ...args)) as JsonObject[]).map(({ handle }) => handle ?? null);
    expect(await handlesOf('--project', '.', '--name', 'lasting', '--since', '1h')).toEqual(['see-last']);
    expect(await handlesOf('--project', '/', '--name', 'lasting')).toEqual([]);
    expect(await handlesOf('--since', '2999-01-01')).toEqual([]);
    expect(await handlesOf('--status', 'cancelled')).toEqual([]);
    const bounded: Definition = {
      name: 'bounded',
      loop: { type: 'until', check: 'false', maxIterations: 1 },
      steps: [shell('true')],
    };
    await harness.run(bounded, { handle: 'see-bounded' });
    expect(await handlesOf('--status', 'stopped')).toEqual(['see-bounded']);
    expect(await handlesOf('--status', 'completed')).not.toContain('see-bounded');
    expect((await sentinel('list', '--status', 'stopped')).out).toContain('stopped (maxIterations)');
  });
});

describe('what was emitted', () => {
  beforeAll(async () => {
    const inner = once('tells', [{ type: 'emit', event: 'deep:done', data: 'deep' }]);
    const steps: Definition['steps'] = [
      { type: 'emit', event: 'told:done', data: { version: 7 } },
      { type: 'emit', event: 'plain' },
      { type: 'sentinel', definition: inner },
      create('seen', { n: 1 }),
      create('seen', { n: 2 }),
    ];
    await harness.run(once('emits', steps), { handle: 'see-emits' });
  });

  test('stands with its data in trace and run, and the trace names nested runs', async () => {
    const trace = await sentinel('trace', 'see-emits');
    expect(trace.out).toMatch(/emit told:done {2}ok {2}\{"version":7\}/);
    expect(trace.out).toMatch(/emit deep:done {2}ok {2}deep/);
    expect(trace.out).toContain('\n  run see-emits/steps.2@1\n');
    expect((await sentinel('follow', 'see-emits')).out).toMatch(/emit told:done {2}ok {2}\{"version":7\}/);
    const whole = [expect.objectContaining({ key: 'steps.0@1', data: { version: 7 } }) as Json];
    expect(await documentOf('trace', 'see-emits')).toMatchObject({ events: expect.arrayContaining(whole) as Json });
    const followed = (await sentinel('follow', 'see-emits', '--json')).out.trim().split('\n');
    expect(followed.map((line) => JSON.parse(line) as Json)).toEqual(expect.arrayContaining(whole));
  });

  test('is shown by events: of a run, by pattern, and as it comes', async () => {
    const found = (await documentOf('events', '*:done', '--run', 'see-emits')) as JsonObject[];
    expect(found.map(({ name, data, handle, key }) => ({ name, data, handle, key }))).toEqual([
      { name: 'told:done', data: { version: 7 }, handle: 'see-emits', key: 'steps.0@1' },
      { name: 'deep:done', data: 'deep', handle: 'see-emits/steps.2@1', key: 'steps.0@1' },
    ]);
    expect(((await documentOf('events', '--last')) as JsonObject[]).map(({ handle }) => handle)).toContain('see-emits');
    expect((await sentinel('incidents', '--last')).out).toBe('Nothing went wrong.\n');
    await sentinel('emit', 'outside:word', '--data', '"hello"', '--id', 'T-1');
    expect((await sentinel('events', 'outside:word')).out).toMatch(/outside:word {2}hello {2}emit T-1\n$/);
    const followed = await sentinel('events', 'deep:done', '--run', 'see-emits', '--follow', '--json');
    expect(JSON.parse(followed.out)).toMatchObject({ name: 'deep:done' });
    expect(await sentinel('events', 'nothing:such')).toMatchObject({ code: 0, out: '' });
  });

  test('and what was kept is listed, read and deleted by data', async () => {
    expect(await documentOf('data', 'list', 'seen')).toMatchObject([{ n: 1 }, { n: 2 }]);
    const first = (await documentOf('data', 'list', 'seen', '--cursor', '--limit', '1')) as { cursor: string };
    expect(first).toMatchObject({ records: [{ n: 1 }], more: true });
    expect(await documentOf('data', 'list', 'seen', '--cursor', first.cursor)).toMatchObject({
      records: [{ n: 2 }],
      more: false,
    });
    const shown = await sentinel('data', 'list', 'seen', '--cursor', '--limit', '1');
    const next = /^sentinel: there are more: --cursor (\S+)\n$/.exec(shown.err)?.[1] ?? shown.err;
    expect(await documentOf('data', 'list', 'seen', '--cursor', next)).toMatchObject({ records: [{ n: 2 }] });
    expect(await documentOf('data', 'read', 'seen', '--filter', '{"n": 2}')).toMatchObject({ n: 2 });
    expect(await sentinel('data', 'delete', 'seen')).toMatchObject({ code: 2 });
    expect(await documentOf('data', 'delete', 'seen', '--filter', '{"n": {"$gt": 1}}')).toMatchObject({ deleted: 1 });
    expect((await sentinel('data', 'list', 'seen')).out).toMatch(/^\w+ {2}\{"n":1\}\n$/);
    expect(await sentinel('data', 'read', 'seen', 'none')).toMatchObject({ code: 4 });
    expect(await sentinel('data', 'delete', 'seen', 'none')).toMatchObject({
      code: 4,
      err: 'sentinel: The collection "seen" has no such record.\n',
    });
    expect(await documentOf('data', 'delete', 'seen', '--filter', '{"n": 9}')).toMatchObject({ deleted: 0 });
    expect((await sentinel('data', 'list', 'unseen')).err).toBe('sentinel: the collection "unseen" has no records.\n');
    expect((await sentinel('data', 'list', 'seen', '--filter', '{"n": 9}')).err).toContain('has no such record.');
  });
});

describe('the verbs around it', () => {
  test('list finds the runs of a folder that is gone', async () => {
    const project = mkdtempSync(join(tmpdir(), 'sentinel-gone-'));
    await harness.run(once('gone', [shell('true')]), { handle: 'see-gone', project });
    rmSync(project, { recursive: true });
    expect(await documentOf('list', '--project', project)).toMatchObject([{ handle: 'see-gone', project }]);
    const never = join(project, 'never');
    expect(await sentinel('list', '--project', never)).toMatchObject({
      code: 0,
      out: 'No runs.\n',
      err: `sentinel: ${never} does not exist; --project takes the folder that runs worked in.\n`,
    });
  });

  test('a run that asks is paused in a comparison, too', async () => {
    for (const handle of ['see-asking-1', 'see-asking-2']) {
      await harness.start(once('asking', [{ type: 'approval', message: 'Go on?' }]), { handle });
      await harness.untilEvent(handle, ({ type }) => type === 'asked');
    }
    const { code, out } = await sentinel('diff', 'see-asking-1', 'see-asking-2');
    expect(code).toBe(0);
    expect(out).toMatch(/run +paused, 0 passes +paused, 0 passes/);
    for (const handle of ['see-asking-1', 'see-asking-2']) await harness.workflow(handle).cancel();
  });

  test('diff shows exit codes', async () => {
    for (const code of [0, 3])
      await harness.run(once('coded', [shell(`exit ${code}`, { name: 'same' })]), { handle: `coded-${code}` });
    const { code, out } = await sentinel('diff', 'coded-0', 'coded-3');
    expect(code).toBe(1);
    expect(out).toMatch(/steps\.0@1 +shell same +ok [\d.]+ m?s +exit 3 [\d.]+ m?s/);
  });

  test('answer names the choices of its question', async () => {
    await harness.start(once('choosy', [{ type: 'approval', message: 'Go on?' }]), { handle: 'see-choosy' });
    await harness.untilEvent('see-choosy', ({ type }) => type === 'asked');
    await until(async () => (await harness.store.inbox.open('see-choosy')).length === 1);
    const { choices } = (await documentOf('inbox', 'show', 'see-choosy')) as JsonObject as { choices: string[] };
    const { code, err } = await sentinel('answer', 'see-choosy', 'aprove');
    expect(code).toBe(2);
    expect(err).toContain(
      `"aprove" is no choice of steps.0@1; write "approve", or choose one of ${choices.join(', ')}.`,
    );
    expect(err).not.toContain('extend');
    expect(await sentinel('inbox', 'clear', 'see-choosy', 'steps.0@1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('"steps.0@1" of see-choosy is a question, which only an answer closes') as string,
    });
    const waits = await harness.history('see-choosy');
    expect((await summaries(waits)).join('\n')).toContain('steps.0@1 is asked about');
    await harness.workflow('see-choosy').cancel();
  });

  test('the timer of a question says which question, and a segment with which step it begins', async () => {
    const steps: Definition['steps'] = [
      create('seen', { n: 3 }),
      { type: 'approval', message: 'Ship it?', timeoutMs: 60_000 },
    ];
    await harness.start(once('timed', steps), { handle: 'see-timed' });
    await harness.untilEvent('see-timed', ({ type }) => type === 'asked');
    const said = async (): Promise<string[]> => summaries(await harness.history('see-timed'));
    await until(async () => (await said()).some((text) => text.includes('asks: ')));
    expect(await said()).toEqual(
      expect.arrayContaining(['steps.1@1 asks: Ship it?', 'from steps.0@1 data/create']) as string[],
    );
    await harness.workflow('see-timed').cancel();
  });

  test('what was only told is cleared of one run, and --version says the version', async () => {
    const fails = once('told', [{ type: 'fail', message: 'no' }]);
    for (const handle of ['see-told-1', 'see-told-2']) await harness.run(fails, { handle });
    const told = async (): Promise<Json[]> =>
      ((await documentOf('inbox')) as JsonObject[]).flatMap(({ handle, state }) =>
        state === 'told' ? [handle ?? null] : [],
      );
    await until(
      async () =>
        (await told()).filter((handle) => typeof handle === 'string' && handle.startsWith('see-told-')).length === 2,
    );
    expect(await documentOf('inbox', 'clear', 'see-told-1')).toEqual({ ok: true, seen: 1 });
    expect(await told()).toContain('see-told-2');
    expect(await told()).not.toContain('see-told-1');
    expect(await sentinel('inbox', 'clear', 'see-nobody')).toMatchObject({ code: 4 });
    expect(await sentinel('inbox', 'clear', 'see-told-2', 'nosuch')).toMatchObject({
      code: 4,
      err: 'sentinel: see-told-2 has no message "nosuch"; "sentinel inbox" shows the messages with their ids.\n',
    });
    for (const seen of [1, 0])
      expect(await documentOf('inbox', 'clear', 'see-told-2', ':end')).toEqual({ ok: true, seen });
    expect((await sentinel('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** What the Web UI shows beside the events of a history. */
async function summaries({ events }: Awaited<ReturnType<Harness['history']>>): Promise<string[]> {
  const sealed = (events ?? []).flatMap(({ userMetadata }) => userMetadata?.summary ?? []);
  return Promise.all(sealed.map(async (summary) => String(await harness.opened(summary))));
}
