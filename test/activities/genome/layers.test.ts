/** Layers by their names: tags, compositions, what a persona uses, and what stands behind a model's `+`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { CommandContext } from '../../../operations/command.ts';
import { noTraining } from '../../../operations/training.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';

const home = mkdtempSync(join(tmpdir(), 'sentinel-genome-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const registry = builtInRegistry({ training: { ...noTraining, folder: () => home } });
const opened = useStore();
const { step: performed, person } = commandsOf(opened, registry);

interface Over extends Partial<CommandContext> {
  project?: string;
  persona?: string;
}

const step = (name: string, params: JsonObject, { project = '/one', persona = 'ada', ...over }: Over = {}) =>
  performed(name, params, '/', { run: { handle: 'runs', project, persona, definitionHash: '' }, ...over });
const behind = (name: string, params: JsonObject): Promise<Json> =>
  step(name, params, { caller: { kind: 'background', name: 'layers' } });

const id = (letter: string): string => letter.repeat(64);
const VERDICT = {
  passed: true,
  reasons: [],
  heldOut: { n: 60, groups: 30, before: 0, after: 50, gain: 50, interval: [30, 70], won: 30, lost: 0, chance: 0 },
  forgetting: { n: 212, before: 50, after: 50, forgotten: 0 },
};
const MANIFEST = {
  rank: 8,
  alpha: 16,
  targets: ['q_proj'],
  seed: 1,
  parents: [],
  licence: 'mit',
  metrics: { loss: 0.5 },
};

/** An adapter, and a layer of it where it has a name. */
async function given(letter: string, { base = 'base', tag }: { base?: string; tag?: string } = {}): Promise<void> {
  const session = opened.store.session();
  await session.write(
    `insert into genome_adapters (id, name, base_asked, base_path, base_hash, manifest, dataset, match, persona, handle, project)
     values ($1, $2, $3, '/m.gguf', $3, $4, 'd', 'exact', 'ada', 'h', '/one')`,
    [id(letter), letter, base, JSON.stringify(MANIFEST)],
  );
  if (tag !== undefined) {
    await session.write('insert into genome_gates (adapter, has_passed, verdict) values ($1, true, $2)', [
      id(letter),
      JSON.stringify(VERDICT),
    ]);
    await session.write("insert into genome_layers (id, domain, persona, project) values ($1, 'sql', 'ada', '/one')", [
      id(letter),
    ]);
    await session.write("insert into genome_tags (tag, layer, persona, project) values ($1, $2, 'ada', '/one')", [
      tag,
      id(letter),
    ]);
  }
  await session.end();
  await session.close();
  mkdirSync(join(home, 'adapters', id(letter)), { recursive: true });
  writeFileSync(join(home, 'adapters', id(letter), 'adapter.gguf'), 'GGUF');
}

beforeAll(async () => {
  await given('a', { tag: 'code-style' });
  await given('b', { tag: 'sql' });
  await given('c', { tag: 'other', base: 'another' });
  await given('d');
});

const file = (letter: string, scale = 1, base = 'base') => ({
  path: join(home, 'adapters', id(letter), 'adapter.gguf'),
  scale,
  base,
});

describe('behind the + of a model', () => {
  test('a layer is found by its name and its hash, an adapter that is none yet by its hash', async () => {
    expect(await behind('genome/layer', { name: 'code-style' })).toEqual(file('a'));
    expect(await behind('genome/layer', { name: id('b') })).toEqual(file('b'));
    expect(await behind('genome/layer', { name: id('d') })).toEqual(file('d'));
    expect(await behind('genome/layer', { name: 'd' })).toBeNull();
  });

  test('a persona stands for what it uses now; one without layers for the model alone; nobody for nothing', async () => {
    expect(await behind('genome/of-persona', { persona: 'nobody' })).toBeNull();
    await person('persona/create', { personaId: 'eve' });
    expect(await behind('genome/of-persona', { persona: 'eve' })).toEqual([]);
    await step('genome/set-active', { personaId: 'ada', composition: ['code-style', 'sql@0.25'] });
    expect(await behind('genome/of-persona', { persona: 'ada' })).toEqual([file('a', 0.5), file('b', 0.25)]);
    await step('genome/set-active', { personaId: 'ada', composition: 'sql' });
    expect(await behind('genome/of-persona', { persona: 'ada' })).toEqual([file('b')]);
  });

  test('no step and no person asks what only models are asked for', async () => {
    await expect(step('genome/layer', { name: 'sql' })).rejects.toMatchObject({ code: 'RIGHTS_EXCEEDED' });
  });
});

describe('a composition', () => {
  test('has equal parts unless weights say otherwise, and a text that is a model with it', async () => {
    expect(await step('genome/compose', { layers: ['code-style', 'sql'] })).toMatchObject({
      modelId: `base+${id('a')}@0.5+${id('b')}@0.5`,
    });
    expect(
      await step('genome/compose', {
        layers: [
          { layer: 'sql', weight: 1 },
          { name: 'code-style', weight: -0.5 },
        ],
      }),
    ).toMatchObject({
      modelId: `base+${id('b')}+${id('a')}@-0.5`,
    });
    expect(
      await step('genome/compose', {
        layers: [
          { layer: 'sql', weight: 0.5 },
          { layer: id('b'), weight: 0.25 },
        ],
      }),
    ).toMatchObject({
      layers: [{ layer: id('b'), scale: 0.75 }],
    });
  });

  test('is the same whatever the order of its layers', async () => {
    const one = (await step('genome/compose', { layers: ['code-style', 'sql'] })) as { id: string };
    const other = (await step('genome/compose', { layers: ['sql', 'code-style'] })) as { id: string };
    expect(one.id).toBe(other.id);
  });

  test.each([
    [['code-style', 'other'], 'LAYERS_UNFIT'],
    [['code-style', 'none'], 'LAYER_UNKNOWN'],
  ])('of %j fails with %s', async (layers, code) => {
    await expect(step('genome/compose', { layers })).rejects.toMatchObject({ code });
  });

  test.each([
    ['its id', (made: JsonObject) => made['id']],
    ['its model', (made: JsonObject) => made['modelId']],
    ['itself', (made: JsonObject) => made],
    ['its layers', (made: JsonObject) => made['layers']],
    ['what a model has selected', (made: JsonObject) => ({ selected: { layers: made['layers'] }, why: 'best' })],
  ])('is made active by %s', async (_what, by) => {
    const made = (await step('genome/compose', { layers: [{ layer: 'sql', weight: 0.5 }] })) as JsonObject;
    const active = await step('genome/set-active', { personaId: 'bob', composition: by(made) as Json });
    expect(active).toMatchObject({
      personaId: 'bob',
      composition: { id: made['id'] as string, layers: made['layers'] as Json },
    });
  });

  test('is taken off again, and none of it is made active where it names no layers', async () => {
    await step('genome/set-active', { personaId: 'bob', composition: ['sql'] });
    expect(await step('genome/set-active', { personaId: 'bob', composition: null })).toMatchObject({
      composition: null,
    });
    expect(await behind('genome/of-persona', { persona: 'bob' })).toBeNull();
    for (const composition of [{}, [], 7, { layers: [] }, 'local/m+./file.gguf'])
      await expect(step('genome/set-active', { personaId: 'bob', composition })).rejects.toMatchObject({
        code: 'LAYERS_UNFIT',
      });
  });

  test('of another persona is none for a model to choose', async () => {
    const over = { confinement: { byModel: true } } as const;
    await expect(step('genome/set-active', { personaId: 'bob', composition: ['sql'] }, over)).rejects.toMatchObject({
      code: 'RIGHTS_EXCEEDED',
    });
    await step('genome/set-active', { personaId: 'ada', composition: ['sql'] }, over);
  });
});

describe('a tag', () => {
  test('names another layer from now on, and the one before again', async () => {
    expect(await step('genome/tag', { tag: 'best', layer: 'code-style' })).toMatchObject({ before: null });
    expect(await step('genome/tag', { tag: 'best', layer: 'sql' })).toMatchObject({ before: id('a') });
    expect(await behind('genome/layer', { name: 'best' })).toEqual(file('b'));
    expect(await step('genome/rollback', { tag: 'best' })).toMatchObject({ layer: id('a'), before: id('b') });
    expect(await behind('genome/layer', { name: 'best' })).toEqual(file('a'));
    expect(await step('genome/layer-list', { domain: 'sql', baseModel: 'base' })).toMatchObject({
      layers: expect.arrayContaining([expect.objectContaining({ id: id('a'), tags: ['best', 'code-style'] })]) as Json,
    });
  });

  test('is of layers that have passed their gate alone, and of one project', async () => {
    await expect(step('genome/tag', { tag: 'new', layer: id('d') })).rejects.toMatchObject({ code: 'LAYER_UNKNOWN' });
    await expect(step('genome/rollback', { tag: 'sql' })).rejects.toMatchObject({ code: 'LAYER_UNKNOWN' });
    const over = { project: '/two' };
    await expect(step('genome/tag', { tag: 'sql', layer: 'code-style' }, over)).rejects.toMatchObject({
      code: 'LAYER_NAME_TAKEN',
    });
  });
});
