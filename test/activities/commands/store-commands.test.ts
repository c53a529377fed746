/** Commands over the real store. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { CommandContext, RunPort } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { commandsOf } from '../harness/commands-of.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
const opened = useStore();

const commands = commandsOf(opened, registry);

const run = async (name: string, params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  commands.step(name, params, await temporaryFolder(), over);

describe('data/*', () => {
  it("refuses data that would hide the record's own fields", async () => {
    const collection = 'own-fields';
    const refused = (data: JsonObject, id?: string) =>
      expect(run('data/create', { collection, data, ...defined({ id }) })).rejects;
    await refused({ createdAt: 1 }).toMatchObject({
      code: 'COMMAND_PARAMS_INVALID',
      message: expect.stringContaining('params.data.createdAt: each record has a "createdAt" of its own') as string,
    });
    await refused({ collection: 'x' }).toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
    await refused({ id: null }).toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
    await refused({ id: 'a' }, 'b').toMatchObject({
      message: expect.stringContaining('params.data.id: the record has the id "b"') as string,
    });
    await run('data/create', { collection, id: '7', data: { id: 7, in: { createdAt: 1, collection: 2 } } });
    await expect(run('data/update', { collection, id: '7', data: { createdAt: 2 } })).rejects.toMatchObject({
      code: 'COMMAND_PARAMS_INVALID',
    });
    expect(await run('data/list', { collection })).toMatchObject([{ id: 7, collection, in: { createdAt: 1 } }]);
  });

  it('writes a record and reads it by id, by field, and in a list', async () => {
    const collection = 'animals';
    const cat = await run('data/create', { collection, data: { name: 'cat', legs: 4, tags: ['a', 'b'] } });
    expect(cat).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      collection,
      createdAt: expect.any(Number),
      recordVersion: 1,
      name: 'cat',
      legs: 4,
      tags: ['a', 'b'],
    });
    await run('data/create', { collection, data: { name: 'bird', legs: 2 }, id: 'bird-1' });
    await run('data/create', { collection, data: { name: 'ant', legs: 6, id: 7 } });
    expect(await run('data/read', { collection, id: 'bird-1' })).toMatchObject({ name: 'bird' });
    expect(await run('data/read', { collection, filter: { id: 7 } })).toMatchObject({ name: 'ant', id: 7 });
    expect(await run('data/read', { collection, filter: { name: 'cat' } })).toEqual(cat);
    expect(await run('data/read', { collection, id: 'none' })).toBeNull();
    const list = (params: JsonObject) => run('data/list', { collection, ...params });
    expect(
      await list({ filter: { legs: { $gte: 4 } }, orderBy: [{ field: 'legs', direction: 'desc' }] }),
    ).toMatchObject([{ name: 'ant' }, { name: 'cat' }]);
    expect(await list({ filter: { tags: { $contains: 'b' } } })).toMatchObject([{ name: 'cat' }]);
    expect(await list({ orderBy: { field: 'name' }, limit: 1, offset: 1 })).toMatchObject([{ name: 'bird' }]);
    expect(await run('data/list', { collection: 'nothing' })).toEqual([]);
  });

  it('changes and deletes the records that an id or a filter names, and no others', async () => {
    const collection = 'changed';
    for (const name of ['ant', 'bee', 'cat'])
      await run('data/create', { collection, id: name, data: { name, legs: name === 'cat' ? 4 : 6, old: true } });
    await run('data/create', { collection: 'other', id: 'ant', data: { legs: 6 } });
    expect(await run('data/update', { collection, id: 'ant', data: { legs: 5, wings: 0 } })).toMatchObject([
      { id: 'ant', name: 'ant', legs: 5, wings: 0, old: true },
    ]);
    expect(await run('data/update', { collection, filter: { legs: { $lte: 5 } }, data: { old: false } })).toHaveLength(
      2,
    );
    expect(await run('data/list', { collection, filter: { old: true } })).toMatchObject([{ id: 'bee' }]);
    expect(await run('data/update', { collection, id: 'none', data: { n: 1 } })).toEqual([]);
    for (const [name, params] of [
      ['data/delete', { collection }],
      ['data/delete', { collection, filter: {} }],
      ['data/update', { collection, data: { n: 1 } }],
      ['data/update', { collection, id: 'ant', data: { id: 'bee' } }],
    ] as const)
      await expect(run(name, params)).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
    expect(await run('data/delete', { collection, filter: { old: false } })).toEqual({ deleted: 2 });
    expect(await run('data/delete', { collection, id: 'ant' })).toEqual({ deleted: 0 });
    expect(await run('data/list', { collection })).toMatchObject([{ id: 'bee', legs: 6 }]);
    expect(await run('data/read', { collection: 'other', id: 'ant' })).toMatchObject({ legs: 6 });
  });

  it('writes once, however often the step runs', async () => {
    const over = { key: 'steps.once@1', run: { handle: 'run-once', project: '/', persona: 'p', definitionHash: 'd' } };
    const params = { collection: 'once', data: { n: 1 } };
    const session = opened.store.session();
    const context = commandContext(await temporaryFolder(), { store: opened.store, session, now: () => 5, ...over });
    const first = await registry.run('data/create', params, context);
    expect(await registry.run('data/create', params, context)).toEqual(first);
    await session.commit({ handle: 'run-once', key: 'once', result: null, events: [] });
    expect(await run('data/list', { collection: 'once' })).toHaveLength(1);
  });

  it('keeps a record although another step took every id that can be worked out from the run and the step', async () => {
    const collection = 'taken';
    const [handle, key] = ['run-taken', 'steps.taken@1'];
    for (const text of [`${handle}:${key}`, `${handle}${key}`, key, handle])
      for (const id of [text, createHash('sha256').update(text).digest('hex').slice(0, 32)])
        await run('data/create', { collection, id, data: { from: 'another' } });
    const own = { key, run: { handle, project: '/', persona: 'p', definitionHash: 'd' } };
    const written = await run('data/create', { collection, data: { from: 'the step' } }, own);
    expect(await run('data/list', { collection, filter: { from: 'the step' } })).toEqual([written]);
  });

  it('does not pass another record off as its own', async () => {
    const params = { collection: 'ids', id: 'x', data: { n: 1 } };
    await run('data/create', params);
    expect(await run('data/create', params)).toMatchObject({ n: 1 });
    await expect(run('data/create', { ...params, data: { n: 2 } })).rejects.toMatchObject({ code: 'RECORD_EXISTS' });
  });
});

/** The port to the server: remembers what was started; the same handle again starts nothing. */
function starter() {
  const started = new Map<string, Parameters<RunPort['start']>[0]>();
  const runs: RunPort = {
    async start(request) {
      if (!started.has(request.handle)) started.set(request.handle, request);
      return { handle: request.handle, workflowId: `sentinel/${request.handle}` };
    },
    steps: (handle) => Promise.reject(new Error(`${handle} is not there`)),
    edit: (handle) => Promise.reject(new Error(`${handle} is not there`)),
    control: (handle) => Promise.reject(new Error(`${handle} is not there`)),
    wake: (handle) => Promise.reject(new Error(`${handle} is not there`)),
    asks: (handle) => Promise.reject(new Error(`${handle} is not there`)),
    answer: (handle) => Promise.reject(new Error(`${handle} is not there`)),
    tell: (handle) => Promise.reject(new Error(`${handle} is not there`)),
  };
  return { started, runPort: runs };
}

const starts = {
  depth: 2,
  limits: {
    maxIterations: null,
    timeoutMs: null,
    stepTimeoutMs: null,
    nestingDepth: 4,
    requireApproval: ['shell' as const],
  },
};

const definition: Definition = { name: 'stored', loop: { type: 'once' }, steps: [{ type: 'emit', event: 'e' }] };

describe('sentinel/run', () => {
  it.each<[string, JsonObject, object]>([
    [
      'a definition',
      { definition: definition as Json, inputs: { a: 1 } },
      { handed: { written: definition }, inputs: { a: 1 }, persona: 'tester' },
    ],
    ['a name', { name: 'stored' }, { handed: { name: 'stored' }, inputs: {} }],
    ['a definition by its name', { definition: 'stored' }, { handed: { name: 'stored' } }],
    ['an id', { sentinelId: 'stored' }, { handed: { name: 'stored' } }],
    [
      'a pipeline',
      { type: 'pipeline', steps: [{ type: 'emit', event: 'e' }] },
      { handed: { written: { loop: { type: 'once' }, steps: [{ type: 'emit', event: 'e' }] } } },
    ],
    [
      'a command',
      { command: 'npm', args: ['test'] },
      { handed: { written: { steps: [{ type: 'shell', command: 'npm', args: ['test'] }] } } },
    ],
  ])('starts %s, with the rights of the run that it is in', async (_name, params, expected) => {
    const { started, runPort } = starter();
    const result = await run('sentinel/run', params, { runPort, starts });
    expect(result).toEqual({ handle: expect.stringMatching(/^run-[0-9a-f]{16}$/), workflowId: expect.any(String) });
    expect([...started.values()]).toMatchObject([
      { ...expected, inherited: starts, by: expect.stringMatching(/^test-\d/) as string },
    ]);
  });

  it('starts nothing twice', async () => {
    const { started, runPort } = starter();
    const over = {
      runPort,
      starts,
      key: 'steps.same@1',
      run: { handle: 'run-same', project: '/', persona: 'p', definitionHash: 'd' },
    };
    const context = commandContext(await temporaryFolder(), { store: opened.store, ...over });
    const params = { definition: definition as Json };
    expect(await registry.run('sentinel/run', params, context)).toEqual(
      await registry.run('sentinel/run', params, { ...context, attempt: 2 }),
    );
    await registry.run('sentinel/run', params, { ...context, key: 'steps.same@2' });
    expect(started.size).toBe(2);
  });
});

const rowOf = (handle: string) => ({
  handle,
  name: 'stored',
  definitionHash: 'd',
  project: '/',
  persona: 'bob',
  parent: null,
  inputs: {},
  startedAt: 5,
});

/** Remembers what runs were told; `gone`: they have ended, and the store does not know yet. */
function told(gone = false) {
  const said: Parameters<RunPort['control']>[] = [];
  const control: RunPort['control'] = async (...what) => {
    said.push(what);
    return gone ? null : { status: 'running', reason: null, ending: true };
  };
  return { said, runPort: { ...starter().runPort, control } };
}

describe('sentinel/pause, resume, stop and cancel', () => {
  it('are said to the run that is named, or to the own one, once for a step', async () => {
    const own = { handle: 'run-own', project: '/', persona: 'p', definitionHash: 'd' };
    for (const handle of ['run-own', 'run-other']) await opened.store.runs.create(rowOf(handle));
    const { said, runPort } = told();
    const over = { runPort, run: own, key: 'steps.0@1' };
    expect(await run('sentinel/stop', { handle: 'run-other' }, over)).toEqual({
      handle: 'run-other',
      status: 'running',
      reason: null,
      ending: true,
    });
    await run('sentinel/pause', { sentinelId: 'run-other', reason: 'later' }, { ...over, key: 'steps.1@1' });
    await run('sentinel/cancel', {}, { ...over, key: 'steps.2@1' });
    expect(said).toEqual([
      ['run-other', 'stop', { reason: expect.any(String), id: 'stop run-own steps.0@1' }],
      ['run-other', 'pause', { reason: 'later', id: 'pause run-own steps.1@1' }],
      ['run-own', 'cancel', { reason: expect.any(String), id: 'cancel run-own steps.2@1' }],
    ]);
  });

  it('leave a run that has ended, and cannot hold it', async () => {
    await opened.store.runs.create(rowOf('run-over'));
    const end = {
      type: 'run-finished',
      seq: 9,
      at: 9,
      key: '',
      status: 'completed',
      outcome: 'completed',
      iterations: 1,
      durationMs: 4,
      outputs: {},
    } as const;
    await opened.store.events.append('run-over', [end]);
    const handle = 'run-over';
    for (const verb of ['stop', 'cancel'])
      expect(await run(`sentinel/${verb}`, { handle })).toMatchObject({ handle, status: 'completed', ending: false });
    for (const verb of ['pause', 'resume'])
      await expect(run(`sentinel/${verb}`, { handle })).rejects.toMatchObject({ code: 'RUN_ENDED' });
    await opened.store.runs.create(rowOf('run-closing'));
    // How it ended is not in the store yet.
    const gone = { runPort: told(true).runPort };
    for (const verb of ['pause', 'resume']) {
      await expect(run(`sentinel/${verb}`, { handle: 'run-closing' }, gone)).rejects.toMatchObject({
        code: 'RUN_ENDED',
        message: expect.stringMatching(/run-closing has ended, .*"sentinel\/status" says/),
      });
    }
    expect(await run('sentinel/stop', { handle: 'run-closing' }, gone)).toEqual({
      handle: 'run-closing',
      status: 'running',
      reason: null,
      ending: true,
    });
    await expect(run('sentinel/stop', { handle: 'run-nobody' })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(run('sentinel/pause', { handle: null })).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
  });
});

describe('sentinel/status, list and logs', () => {
  it('show a run and what its shell step printed', async () => {
    const saved = await opened.store.definitions.save(definition);
    const handle = 'run-shown';
    await opened.store.runs.create({
      handle,
      name: 'stored',
      definitionHash: saved.hash,
      project: '/',
      persona: 'ada',
      parent: null,
      inputs: { a: 1 },
      startedAt: 5,
    });
    const step = commandContext(await temporaryFolder(), {
      store: opened.store,
      run: { handle, project: '/', persona: 'ada', definitionHash: saved.hash },
    });
    await runShell({ command: 'echo one; echo two >&2; sleep 0.2; echo three', timeoutMs: 60_000 }, step);
    expect(await run('sentinel/status', { handle })).toMatchObject({
      handle,
      status: 'running',
      outcome: null,
      inputs: { a: 1 },
      failure: null,
    });
    const row = { kind: 'run', handle, persona: 'ada', startedAt: 5 };
    expect(await run('sentinel/list', { personaId: 'ada' })).toMatchObject([row]);
    const { hash: id } = await opened.store.definitions.publish({
      ...saved.definition,
      name: 'listed',
      description: 'x',
    });
    const listed = { kind: 'definition', name: 'listed', version: 1, id, description: 'x' };
    const both = (await run('sentinel/list', {})) as JsonObject[];
    expect(both.filter((one) => one['handle'] === handle || one['id'] === id)).toMatchObject([listed, row]);
    expect(await run('sentinel/list', { kind: 'definition' })).toContainEqual(expect.objectContaining(listed));
    expect(await run('sentinel/list', { kind: 'definition', limit: 1 })).toHaveLength(1);
    expect(await run('sentinel/list', { kind: 'run' })).not.toContainEqual(
      expect.objectContaining({ kind: 'definition' }),
    );
    expect(await run('sentinel/list', { status: 'running' })).toContainEqual(expect.objectContaining(row));
    await expect(run('sentinel/list', { kind: 'definition', status: 'running' })).rejects.toThrow('has no status');
    expect(await run('sentinel/list', { personaId: 'ada', status: 'failed' })).toEqual([]);
    expect(await run('sentinel/logs/list', { handle })).toEqual(
      expect.arrayContaining([
        { stream: 'stdout', bytes: 10 },
        { stream: 'stderr', bytes: 4 },
      ]),
    );
    expect(await run('sentinel/logs/read', { handle, stream: 'stdout', offset: 1 })).toEqual({
      handle,
      stream: 'stdout',
      lines: ['three'],
      text: 'three',
    });
    expect(await run('sentinel/logs/tail', { handle, lines: 2 })).toMatchObject({
      stream: 'combined',
      lines: ['two', 'three'],
    });
  });

  it('says that a handle is unknown', async () => {
    for (const name of ['status', 'logs/list', 'logs/read', 'logs/tail']) {
      await expect(run(`sentinel/${name}`, { handle: 'none' })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    }
  });
});

describe('health-check', () => {
  it('tells whether the store answers', async () => {
    expect(await run('health-check', {})).toMatchObject({ status: 'healthy', checks: [{ name: 'store', ok: true }] });
    const away = openStore({ url: 'postgres://nobody@127.0.0.1:1/none' });
    const context = commandContext(await temporaryFolder(), { store: away });
    expect(await registry.run('health-check', {}, context)).toMatchObject({
      status: 'degraded',
      checks: [{ name: 'store', ok: false, message: expect.any(String) }],
    });
    await away.close();
  }, 30_000);
});
