/** Saved sentinels, as steps, models and persons reach them, and as files that travel. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { exportText, readExport, type Payload } from '../../../systems/saved/document.ts';
import { addKnownKey, ownKey, signatureOf } from '../../../services/home/signing.ts';
import { canonicalText } from '../../../language/canonical.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';

const registry = builtInRegistry();
const opened = useStore();
const folder = mkdtempSync(join(tmpdir(), 'sentinel-saved-'));
beforeAll(() => {
  vi.stubEnv('SENTINEL_HOME', join(folder, 'home'));
  vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const { step } = commandsOf(opened, registry);

const run = (name: string, params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  step(name, params, folder, over);

const as = (persona: string, project = folder): Partial<CommandContext> => ({
  run: { handle: `run-of-${persona}`, project, persona, definitionHash: 'h' },
});
const person = (name: string): Partial<CommandContext> => ({ ...as(name), caller: { kind: 'person', name } });
const asModel: Partial<CommandContext> = { ...as('ada', '/elsewhere'), confinement: { byModel: true } };

const saying = (name: string, event: string): Definition => ({
  name,
  description: `says ${event}`,
  loop: { type: 'once' },
  steps: [{ type: 'emit', event }],
});
const written = (definition: Definition): JsonObject => definition as unknown as JsonObject;
const save = (definition: Definition, params: JsonObject = {}, over = as('ada')): Promise<Json> =>
  run('sentinel/save', { definition: written(definition), ...params }, over);

describe('saved sentinels', () => {
  it('are what the file of the name holds, also where that is what it held before', async () => {
    const file = join(folder, 'sentinels', 'swapped.json');
    mkdirSync(dirname(file), { recursive: true });
    for (const event of ['one', 'two', 'one']) {
      writeFileSync(file, JSON.stringify(saying('swapped', event)));
      expect(await run('sentinel/load', { name: 'swapped' })).toMatchObject({ description: `says ${event}` });
    }
  });

  it('are saved with tags, listed, given by name or id with their versions, and lose their name', async () => {
    const first = (await save(saying('kept-name', 'one'), { tags: ['a'], parentPersonaId: 'eve' })) as JsonObject;
    expect(first).toMatchObject({ name: 'kept-name', version: 1, personaId: 'ada', project: folder, tags: ['a'] });
    expect(await save(saying('kept-name', 'two'))).toMatchObject({ version: 2, tags: ['a'], parentPersonaId: 'eve' });
    expect(await run('sentinel/load', { personaId: 'ada' })).toMatchObject([{ version: 2, description: 'says two' }]);
    expect(await run('sentinel/load', { name: 'kept-name' }, as('ada'))).toMatchObject({
      definition: { description: 'says two' },
      versions: [{ version: 2 }, { version: 1, id: first['id'] }],
    });
    expect(await run('sentinel/load', { name: first['id'] ?? null }, as('ada'))).toMatchObject({
      definition: { description: 'says one' },
    });
    expect(await run('sentinel/load', { name: 'nobody-saved-it' })).toBeNull();
    expect(await run('sentinel/load', {}, asModel)).toEqual([]);
    const deleted = (): Promise<Json> => run('sentinel/delete', { name: 'kept-name' }, as('ada'));
    expect(await deleted()).toEqual({ name: 'kept-name', deleted: true });
    expect(await deleted()).toEqual({ name: 'kept-name', deleted: false });
    expect(await run('sentinel/load', { name: 'kept-name' }, as('ada'))).toBeNull();
  });

  it('are saved by their own name or another, from a text too, and only where a reader takes them', async () => {
    const text = JSON.stringify(saying('in-text', 'x'));
    expect(await run('sentinel/save', { definition: text, name: 'renamed' }, as('ada'))).toMatchObject({
      name: 'renamed',
    });
    await expect(run('sentinel/save', { definition: { name: 'no-steps' } }, as('ada'))).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
    });
  });

  it('of a model, or drafted by one, are kept by their id, and move no name', async () => {
    await save(saying('gate', 'asks'), {}, as('ada', '/elsewhere'));
    const kept = (await save(saying('gate', 'lets-through'), { tags: ['x'] }, asModel)) as JsonObject;
    expect(kept).toMatchObject({ name: 'gate', version: 0, tags: [] });
    expect(await run('sentinel/load', { name: 'gate' }, as('ada', '/elsewhere'))).toMatchObject({
      description: 'says asks',
      versions: [{}],
    });
    const drafted = { ...asModel, reach: { tools: ['sentinel/save'], isDraft: true as const } };
    await expect(save(saying('gate', 'drafted'), {}, drafted)).rejects.toMatchObject({ code: 'RIGHTS_EXCEEDED' });
    const harmless: Definition = { ...saying('gate', 'x'), steps: [{ type: 'set', values: { passed: true } }] };
    const draft = (await save(harmless, {}, drafted)) as JsonObject;
    const stored = await opened.store.definitions.find(draft['id'] as string);
    expect(stored).toMatchObject({ version: 0, definition: { mode: 'sandboxed' } });
  });

  it('of a persona are its own: a run of another saves beside it, and does not import over what a person saved', async () => {
    await save(saying('own', 'ada'), {}, person('ada'));
    await save(saying('own', 'helper'), {}, as('helper-ai'));
    const given = async (persona: string): Promise<Json> =>
      ((await run('sentinel/load', { name: 'own' }, as(persona))) as JsonObject)['description'] ?? null;
    expect([await given('ada'), await given('helper-ai'), await given('bob')]).toEqual([
      'says ada',
      'says helper',
      'says ada',
    ]);
    await run('sentinel/export', { sentinelId: 'own', output: 'own.json' }, as('helper-ai'));
    const taking = { file: 'own.json', personaId: 'ada' };
    await expect(run('sentinel/import', taking, as('helper-ai'))).rejects.toMatchObject({
      code: 'SENTINEL_NAME_TAKEN',
    });
    expect(await given('ada')).toBe('says ada');
    expect(await run('sentinel/import', taking, person('ada'))).toMatchObject({ done: true });
    expect(await given('ada')).toBe('says helper');
  });
});

const list = async (filter: JsonObject, over = as('ada')): Promise<JsonObject[]> =>
  (await run('data/list', { collection: 'sentinels', filter }, over)) as JsonObject[];

const readTwoOwners = (over: Partial<CommandContext>): Promise<Json> =>
  run('data/read', { collection: 'sentinels', id: 'two-owners' }, over);

describe('the collection of saved sentinels', () => {
  it('has their fields and those of their definitions, filtered, ordered and in pages as others', async () => {
    for (const name of ['c1', 'c2', 'c3']) await save(saying(name, name), { tags: ['paged'] });
    expect(await list({ tags: { $contains: 'paged' }, name: 'c2' })).toMatchObject([
      {
        id: 'c2',
        collection: 'sentinels',
        uniqueId: 'c2',
        createdBy: 'ada',
        version: 1,
        runCount: 0,
        successRate: null,
        averageDurationMs: null,
        lastRunAt: null,
        isPublic: true,
        steps: [{ type: 'emit', event: 'c2' }],
      },
    ]);
    const names: Json[] = [];
    let cursor: Json = null;
    for (let more = true; more;) {
      const page = (await run(
        'data/list',
        {
          collection: 'sentinels',
          filter: { tags: { $contains: 'paged' } },
          orderBy: [{ field: 'name', direction: 'desc' }],
          limit: 2,
          cursor,
        },
        as('ada'),
      )) as { records: JsonObject[]; cursor: string; more: boolean };
      names.push(...page.records.map(({ name }) => name ?? null));
      ({ cursor, more } = page);
    }
    expect(names).toEqual(['c3', 'c2', 'c1']);
  });

  it('gives the one that a name finds, and to a model those of its project', async () => {
    await save(saying('two-owners', 'ada'));
    await save(saying('two-owners', 'eve'), {}, as('eve', '/elsewhere'));
    expect(await readTwoOwners(as('ada'))).toMatchObject({ createdBy: 'ada' });
    expect(await readTwoOwners(as('eve'))).toMatchObject({ createdBy: 'eve' });
    expect(await list({ name: 'two-owners' })).toHaveLength(2);
    expect(await list({ name: 'two-owners' }, asModel)).toMatchObject([{ createdBy: 'eve' }]);
  });

  it.each([
    ['data/create', { data: { name: 'x' } }],
    ['data/update', { id: 'two-owners', data: { tags: [] } }],
    ['data/delete', { id: 'two-owners' }],
  ])('is not written by %s', async (command, params) => {
    await expect(run(command, { collection: 'sentinels', ...params })).rejects.toMatchObject({
      code: 'COLLECTION_READ_ONLY',
    });
    expect(await list({ name: 'two-owners' })).toHaveLength(2);
  });
});

/** Rows of each table. */
const counts = async (): Promise<unknown> => {
  const tables = await opened.database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const sums = tables.map(({ name }) => `select '${name}' as name, count(*) as rows from "${name}"`);
  return opened.database.query(sums.join(' union all '));
};

describe('an export', () => {
  const part = saying('travel-part', 'part');
  const whole: Definition = {
    name: 'travels',
    loop: { type: 'once' },
    steps: [
      { type: 'sentinel', definition: { $ref: 'travel-part' } },
      { type: 'command', command: 'health-check', params: {} },
    ],
  };
  const file = join(folder, 'travels.json');
  const importing = (params: JsonObject = {}, over = as('learner', '/other')): Promise<Json> => {
    const { run: of } = over;
    if (of === undefined) throw new Error('a test without a run');
    return run('sentinel/import', { file: 'travels.json', ...params }, { ...over, confinement: { root: folder } });
  };
  const altered = (change: (payload: Payload) => Payload): void =>
    writeFileSync(file, exportText(change(readExport(text, 'it').payload)));
  const refused = async (content: Buffer, code: string | RegExp): Promise<void> => {
    writeFileSync(file, content);
    await expect(importing({}, as('victim', '/other'))).rejects.toMatchObject({
      code: expect.stringMatching(code) as string,
    });
  };
  let text = '';

  beforeAll(async () => {
    await save(part);
    await save({ ...whole, description: 'before' });
    await save(whole, { tags: ['t'] });
    const exported = await run(
      'sentinel/export',
      { sentinelId: 'travels', output: 'travels.json', includeHistory: true },
      as('ada'),
    );
    expect(exported).toMatchObject({ versions: 2, with: ['travel-part'], commands: ['health-check'], runs: 0 });
    text = readFileSync(file, 'utf8');
  });

  it('is saved whole where it goes, with its versions, its tags, its owner and where it came from', async () => {
    const preview = (await importing({ preview: true })) as JsonObject;
    expect(preview).toMatchObject({
      done: false,
      changes: [
        { name: 'travels', state: 'new' },
        { name: 'travel-part', state: 'new' },
      ],
    });
    expect(await run('sentinel/load', { personaId: 'learner' })).toEqual([]);
    await expect(importing({ expects: 'another digest' })).rejects.toMatchObject({ code: 'ACTION_CHANGED' });
    expect(await importing({ expects: preview['digest'] ?? null, addToMemory: true })).toMatchObject({
      done: true,
      addedToMemory: true,
    });
    expect(await run('sentinel/load', { name: 'travels' }, as('learner', '/other'))).toMatchObject({
      personaId: 'learner',
      project: '/other',
      parentPersonaId: 'ada',
      tags: ['t'],
      id: contentHash(whole),
      versions: [{}, {}],
    });
    const session = opened.store.session();
    const found = await opened.store.sentinels.own(session, 'travels', { persona: 'learner', project: '/other' });
    await session.close();
    expect(found?.origin).toMatchObject({ owner: 'ada', id: contentHash(whole), history: [], before: null });
    expect(await importing({ preview: true })).toMatchObject({ changes: [{ state: 'same' }, { state: 'same' }] });
  });

  it.each(['', 'a b', 'helper-genome', "'; drop table runs; --", 'x\0y', 'a'.repeat(101)])(
    'is for no persona of the id %j',
    async (personaId) => {
      const before = await counts();
      await expect(importing({ personaId })).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
      await expect(save(saying('no-parent', 'x'), { parentPersonaId: personaId })).rejects.toMatchObject({
        code: 'COMMAND_PARAMS_INVALID',
      });
      expect(await counts()).toEqual(before);
    },
  );

  it('that was flipped, cut, or is of another version is refused, and no table has another row', async () => {
    const before = await counts();
    const bytes = Buffer.from(text, 'utf8');
    const places = Array.from({ length: 80 }, (_, n) => Math.floor((n * bytes.length) / 80));
    for (const at of [...places, bytes.length - 1, text.lastIndexOf('"') - 1]) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      await refused(flipped, /^EXPORT_(?:INVALID|VERSION)$/);
    }
    // Each byte, with another bit of each.
    for (const at of bytes.keys()) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      expect(() => readExport(flipped.toString('utf8'), 'the file'), `byte ${at}`).toThrow();
    }
    for (const at of places) await refused(bytes.subarray(0, at), 'EXPORT_INVALID');
    for (const beside of [' ', '\n', '\0', '\uFEFF', text]) {
      await refused(Buffer.from(`${text}${beside}`), 'EXPORT_INVALID');
      await refused(Buffer.from(`${beside}${text}`), 'EXPORT_INVALID');
    }
    await refused(Buffer.from(JSON.stringify(JSON.parse(text), null, 2)), 'EXPORT_INVALID');
    await refused(Buffer.from(text.replace(/"version":1}\n$/, '"version":99}\n')), 'EXPORT_VERSION');
    expect(await counts()).toEqual(before);
  });

  it('with a cycle, a definition that is none, or one that is not what its id says is refused whole', async () => {
    const before = await counts();
    const cyclic: Definition = { ...part, steps: [{ type: 'sentinel', definition: { $ref: 'travels' } }] };
    altered((payload) => ({
      ...payload,
      library: [{ name: 'travel-part', id: contentHash(cyclic), definition: cyclic }],
    }));
    await expect(importing()).rejects.toMatchObject({ code: 'DEFINITION_INVALID' });
    const unbounded = { ...part, loop: { type: 'continuous' } } as unknown as Definition;
    altered((payload) => ({
      ...payload,
      library: [{ name: 'travel-part', id: contentHash(unbounded), definition: unbounded }],
    }));
    await expect(importing()).rejects.toMatchObject({ code: 'DEFINITION_INVALID' });
    altered((payload) => ({
      ...payload,
      library: payload.library.map((one) => ({ ...one, definition: { ...part, description: 'another' } })),
    }));
    await expect(importing()).rejects.toMatchObject({ code: 'EXPORT_INVALID' });
    altered((payload) => ({ ...payload, library: [] }));
    await expect(importing({}, as('lonely', '/lonely'))).rejects.toMatchObject({ code: 'DEFINITION_INVALID' });
    expect(await counts()).toEqual(before);
  });

  it('is taken from a key that a person has said to know, and from no other', async () => {
    const elsewhere = join(folder, 'another-home');
    const { payload } = JSON.parse(text) as { payload: Json };
    const signature = signatureOf(canonicalText(payload), elsewhere);
    writeFileSync(file, `${canonicalText({ format: 'sentinel-export', version: 1, payload, signature })}\n`);
    const before = await counts();
    await expect(importing()).rejects.toMatchObject({ code: 'EXPORT_UNTRUSTED' });
    expect(await counts()).toEqual(before);
    addKnownKey(ownKey(elsewhere), 'the other machine');
    expect(await importing()).toMatchObject({ signer: { name: 'the other machine' }, done: true });
  });

  it('holds no secret that the run knows', async () => {
    await save(saying('leaks', 'sk-very-secret-value'));
    const masks = { text: (given: string) => given.replaceAll('sk-very-secret-value', '[env KEY]') };
    const secrets = { results: { ...masks, json: (value: Json) => value }, logs: masks };
    await expect(
      run(
        'sentinel/export',
        { sentinelId: 'leaks', output: 'leaks.json' },
        { ...as('ada'), secrets: secrets as never },
      ),
    ).rejects.toMatchObject({ code: 'EXPORT_SECRET' });
    await expect(run('sentinel/export', { sentinelId: 'nobody', output: 'x.json' })).rejects.toMatchObject({
      code: 'SENTINEL_NOT_FOUND',
    });
  });
});

describe('a deployment', () => {
  it('is a person’s alone, and has the sentinel with what it names found in the other project', async () => {
    const target = mkdtempSync(join(folder, 'target-'));
    const params = { sentinelId: 'travels', project: target };
    await expect(run('sentinel/deploy', params, as('ada'))).rejects.toThrow(/is not called/);
    const preview = (await run('sentinel/deploy', { ...params, preview: true }, person('ada'))) as JsonObject;
    expect(preview).toMatchObject({ commands: ['health-check'], done: false });
    const found = async (): Promise<Json> =>
      ((await run('sentinel/load', { name: 'travels' }, as('bob', target))) as JsonObject)['project'] ?? null;
    expect(await found()).not.toBe(target);
    await expect(run('sentinel/deploy', { ...params, expects: 'x' }, person('ada'))).rejects.toMatchObject({
      code: 'ACTION_CHANGED',
    });
    expect(
      await run('sentinel/deploy', { ...params, expects: preview['digest'] ?? null }, person('ada')),
    ).toMatchObject({
      done: true,
      changes: [{ state: 'new' }, { state: 'new' }],
    });
    expect(await found()).toBe(target);
  });
});
