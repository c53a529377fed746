/** Layers that travel to another installation: another database, another folder, another key. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { canonicalText } from '../../../language/canonical.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { CommandContext } from '../../../operations/command.ts';
import { documentText } from '../../../operations/signed-documents.ts';
import { addKnownKey, ownKey, signatureOf } from '../../../services/home/signing.ts';
import { ADAPTER_FILES, GENOME, type GenomePayload } from '../../../systems/genome/document.ts';
import type { Verdict } from '../../../systems/genome/verdict.ts';
import { useStore } from '../../store/harness/opened.ts';
import { Installation } from './installation.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-travel-'));
const project = join(folder, 'project');
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');

type Composition = NonNullable<GenomePayload['composition']>;

const here = new Installation(folder, 'here', useStore());
const there = new Installation(folder, 'there', useStore());

const VERDICT: Verdict = {
  passed: true,
  reasons: [],
  heldOut: { n: 60, groups: 30, before: 0, after: 50, gain: 50, interval: [30, 70], won: 30, lost: 0, chance: 0 },
  forgetting: { n: 212, before: 50, after: 50, forgotten: 0 },
};
const BASE = 'the weights of a model';

/** A layer with files of its own; `id` is its letter 64 times. */
async function given(letter: string, name: string): Promise<void> {
  const id = letter.repeat(64);
  const adapter = join(here.home, 'adapters', id);
  mkdirSync(adapter, { recursive: true });
  const weights = `weights of ${name}`;
  const manifest = {
    id,
    sha256: sha256(weights),
    base: { name: 'base.gguf', hash: sha256(BASE) },
    rank: 8,
    alpha: 16,
    targets: ['q_proj'],
    seed: 1,
    parents: [],
    licence: 'mit',
    metrics: { loss: 0.5 },
  };
  writeFileSync(join(adapter, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(adapter, 'adapter_config.json'), '{}');
  writeFileSync(join(adapter, 'adapter_model.safetensors'), weights);
  writeFileSync(join(adapter, 'adapter.gguf'), `GGUF of ${name}`);
  await here.write(
    `insert into genome_adapters (id, name, base_asked, base_path, base_hash, manifest, dataset, match, persona, handle, project)
     values ($1, $2, 'local/small', '/m.gguf', $3, $4, 'd', 'exact', 'ada', 'h', '/one')`,
    [id, name, sha256(BASE), JSON.stringify(manifest)],
  );
  await here.write('insert into genome_gates (adapter, has_passed, verdict) values ($1, true, $2)', [
    id,
    JSON.stringify(VERDICT),
  ]);
  await here.write("insert into genome_layers (id, domain, persona, project) values ($1, $2, 'ada', '/one')", [
    id,
    name,
  ]);
  await here.write("insert into genome_tags (tag, layer, persona, project) values ($1, $2, 'ada', '/one')", [name, id]);
}

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const out = join(folder, 'export');

beforeAll(async () => {
  vi.stubEnv('SENTINEL_HOME', join(folder, 'home'));
  vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'));
  mkdirSync(project, { recursive: true });
  writeFileSync(join(folder, 'base.gguf'), BASE);
  writeFileSync(join(folder, 'other.gguf'), 'other weights of the same shape');
  await given('a', 'code-style');
  await given('b', 'sql');
  await here.step('genome/set-active', { personaId: 'ada', composition: ['code-style@0.75', 'sql@0.25'] });
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test('the genome of a persona is used by another one in another installation, with its scales', async () => {
  const exported = (await here.step('genome/export', { personaId: 'ada', outputPath: out })) as JsonObject;
  expect(exported).toMatchObject({ path: out, domain: 'code-style, sql', personaId: 'ada' });
  expect(statSync(out).mode & 0o777).toBe(0o700);
  expect(await there.step('genome/import', { importPath: out, personaId: 'eve' })).toMatchObject({
    layers: [
      { id: A, name: 'code-style', isNew: true },
      { id: B, name: 'sql', isNew: true },
    ],
    domain: 'code-style, sql',
    signer: { name: 'this installation' },
    composition: { layers: [{ scale: 0.75 }, { scale: 0.25 }] },
  });
  const of = (persona: string) =>
    there.step('genome/of-persona', { persona }, { caller: { kind: 'background', name: 'layers' } });
  const file = (id: string, scale: number) => ({
    path: join(there.home, 'adapters', id, 'adapter.gguf'),
    scale,
    base: sha256(BASE),
  });
  expect(await of('eve')).toEqual([file(A, 0.75), file(B, 0.25)]);
  for (const id of [A, B])
    for (const name of ADAPTER_FILES)
      expect(readFileSync(join(there.home, 'adapters', id, name))).toEqual(
        readFileSync(join(here.home, 'adapters', id, name)),
      );
  expect(await there.step('genome/layer-list', { domain: 'sql' })).toMatchObject({
    layers: [{ id: B, tags: ['sql'], licence: 'mit', gate: VERDICT, origin: { exportedBy: 'ada', personaId: 'ada' } }],
  });
  // Once more: nothing is there twice.
  const before = (await there.counts()) as JsonObject;
  expect(await there.step('genome/import', { importPath: out })).toMatchObject({ layers: [{ isNew: false }, {}] });
  expect(await there.counts()).toEqual(before);
});

test('a layer by itself is exported into the project and over an older export, and takes nobody its name', async () => {
  expect(await here.step('genome/export', { layer: 'sql', outputPath: 'out/genome' })).toMatchObject({
    path: join(project, 'out', 'genome'),
    personaId: null,
    layers: [{ id: B, name: 'sql', domain: 'sql' }],
  });
  writeFileSync(join(project, 'out', 'genome', 'adapters', B, 'adapter.gguf'), 'changed');
  await here.step('genome/export', { layer: B, outputPath: 'out/genome' });
  await there.write('delete from genome_tags where tag = $1', ['sql']);
  await there.write("insert into genome_tags (tag, layer, persona, project) values ('sql', $1, 'eve', '/two')", [A]);
  expect(await there.step('genome/import', { importPath: 'out/genome', personaId: 'bob' })).toMatchObject({
    layers: [{ id: B, name: `sql-${B.slice(0, 8)}` }],
    composition: { layers: [{ layer: B, scale: 1 }] },
  });
});

test('an export writes through no link, and nothing where it holds a secret', async () => {
  const [outputPath, elsewhere] = [join(folder, 'through-a-link'), join(folder, 'elsewhere')];
  mkdirSync(outputPath);
  mkdirSync(join(elsewhere, B), { recursive: true });
  writeFileSync(join(elsewhere, B, 'kept'), 'mine');
  symlinkSync(elsewhere, join(outputPath, 'adapters'));
  await expect(here.step('genome/export', { layer: 'sql', outputPath })).rejects.toMatchObject({
    code: 'FILE_NOT_USABLE',
  });
  expect(readdirSync(elsewhere)).toEqual([B]);
  expect(readdirSync(join(elsewhere, B))).toEqual(['kept']);
  const masks = { text: (was: string) => was.replaceAll('sql', '[env KEY]'), json: (value: Json) => value };
  const secret = join(folder, 'secret');
  await expect(
    here.step(
      'genome/export',
      { layer: 'sql', outputPath: secret },
      { secrets: { results: masks, logs: masks } as never },
    ),
  ).rejects.toMatchObject({ code: 'EXPORT_SECRET' });
  expect(existsSync(secret)).toBe(false);
});

test.each([
  ['neither a persona nor a layer', {}],
  ['both', { personaId: 'ada', layer: 'sql' }],
])('an export of %s is refused', async (_what, params) => {
  await expect(here.step('genome/export', { ...params, outputPath: out })).rejects.toMatchObject({
    code: 'COMMAND_PARAMS_INVALID',
    message: expect.stringContaining('"personaId" or "layer"') as string,
  });
});

test.each([
  ['a persona without layers', { personaId: 'nobody' }],
  ['a layer that is none', { layer: 'nothing' }],
])('of %s there is nothing to export', async (_what, params) => {
  const outputPath = join(folder, 'nothing');
  await expect(here.step('genome/export', { ...params, outputPath })).rejects.toMatchObject({ code: 'LAYER_UNKNOWN' });
  expect(existsSync(outputPath)).toBe(false);
});

describe('what is imported', () => {
  const bad = join(folder, 'bad');
  const document = join(bad, 'genome.json');
  let before: Json;
  beforeEach(async () => {
    rmSync(bad, { recursive: true, force: true });
    cpSync(out, bad, { recursive: true });
    there.base = join(folder, 'base.gguf');
    // Its files are not there yet, so that each is looked at.
    rmSync(join(there.home, 'adapters'), { recursive: true, force: true });
    before = await there.counts();
  });
  const refused = async (code: string, params: JsonObject = {}, over: Partial<CommandContext> = {}): Promise<void> => {
    await expect(
      there.step('genome/import', { importPath: bad, personaId: 'eve', ...params }, over),
    ).rejects.toMatchObject({ code });
    const { files: _files, ...rows } = (await there.counts()) as JsonObject;
    expect({ ...rows, files: 0 }).toEqual(before);
  };
  const payload = (): GenomePayload =>
    (JSON.parse(readFileSync(document, 'utf8')) as { payload: GenomePayload }).payload;
  const altered = (change: (payload: GenomePayload) => GenomePayload): void =>
    writeFileSync(document, documentText(GENOME, change(payload())));

  test.each(ADAPTER_FILES)('has the %s that was signed', async (name) => {
    writeFileSync(join(bad, 'adapters', B, name), 'another');
    await refused('EXPORT_INVALID');
    rmSync(join(bad, 'adapters', B, name));
    await refused('EXPORT_INVALID');
  });

  test('is files and no links to some, and no pipe is waited for', async () => {
    const file = join(bad, 'adapters', B, 'adapter.gguf');
    renameSync(file, join(bad, 'beside'));
    symlinkSync(join(bad, 'beside'), file);
    await refused('FILE_NOT_USABLE');
    rmSync(file);
    execFileSync('mkfifo', [file]);
    await refused('FILE_NOT_USABLE');
    cpSync(join(out, 'adapters', B), join(bad, 'moved'), { recursive: true });
    rmSync(join(bad, 'adapters', B), { recursive: true });
    symlinkSync(join(bad, 'moved'), join(bad, 'adapters', B));
    await refused('EXPORT_INVALID');
  });

  test('is of the size that was signed, and leaves no file here where one layer is not', async () => {
    writeFileSync(join(bad, 'adapters', B, 'adapter.gguf'), 'longer than what was signed, by far');
    await expect(there.step('genome/import', { importPath: bad })).rejects.toMatchObject({
      code: 'EXPORT_INVALID',
      message: expect.stringContaining('bytes') as string,
    });
    expect(readdirSync(join(there.home, 'adapters'))).toEqual([]);
  });

  test('is no adapter that has not passed its gate here', async () => {
    const C = 'c'.repeat(64);
    await given('c', 'weak');
    await here.step('genome/export', { layer: 'weak', outputPath: join(folder, 'weak') });
    await there.write(
      `insert into genome_adapters (id, name, base_asked, base_path, base_hash, manifest, dataset, match, persona, handle, project)
       values ($1, 'weak', 'm', '/m', 'h', '{}', 'd', 'exact', 'eve', 'h', '/p')`,
      [C],
    );
    await there.write('insert into genome_gates (adapter, has_passed, verdict) values ($1, false, $2)', [
      C,
      JSON.stringify({ ...VERDICT, passed: false, reasons: ['too little was gained'] }),
    ]);
    before = await there.counts();
    await refused('GATE_REFUSED', { importPath: join(folder, 'weak') });
    expect(existsSync(join(there.home, 'adapters', C))).toBe(false);
  });

  test('has names as models write them, and none that is the id of another', async () => {
    altered((found) => ({
      ...found,
      personaId: null,
      composition: null,
      layers: found.layers.map((layer) => ({
        ...layer,
        names: layer.id === A ? ['Code & style', 'second'] : [A, 'third-genome'],
      })),
    }));
    const { layers } = (await there.step('genome/import', { importPath: bad })) as { layers: JsonObject[] };
    expect(layers.map(({ name }) => name)).toEqual(['Code-style', `${A}-bbbbbbbb`]);
    expect(await there.step('genome/layer-list', {})).toMatchObject({
      layers: expect.arrayContaining([
        expect.objectContaining({ id: A, tags: expect.arrayContaining(['Code-style', 'second']) as Json }),
        expect.objectContaining({ id: B, tags: expect.arrayContaining(['third-layer']) as Json }),
      ]) as Json,
    });
    await there.write('insert into genome_tags (tag, layer, persona, project) values ($1, $2, $3, $4)', [
      A,
      B,
      'eve',
      '/p',
    ]);
    const found = await there.step('genome/layer', { name: A }, { caller: { kind: 'background', name: 'layers' } });
    expect(found).toMatchObject({ path: join(there.home, 'adapters', A, 'adapter.gguf') });
  });

  test.each([
    ['a scale', (composition: Composition) => composition.map((one) => ({ ...one, scale: 1000 }))],
    ['a list', (composition: Composition) => Array.from({ length: 9 }, () => composition[0] ?? { layer: A, scale: 1 })],
    ['a list of none', () => []],
  ])('has no %s beyond what a composition may have', async (_what, change) => {
    altered((found) => ({ ...found, composition: change(found.composition ?? []) }));
    await refused('EXPORT_INVALID');
  });

  test('is as it was signed', async () => {
    const text = readFileSync(document, 'utf8');
    for (const change of [
      (was: string) => was.replace('"scale":0.75', '"scale":0.95'),
      (was: string) => was.replace('code-style', 'code-other'),
      (was: string) => `${was} `,
      (was: string) => was.slice(0, -20),
    ]) {
      writeFileSync(document, change(text));
      await refused('EXPORT_INVALID');
    }
    writeFileSync(document, text.replace(/"version":1}\n$/, '"version":99}\n'));
    await refused('EXPORT_VERSION');
  });

  test.each([
    ['has not passed its gate', (gate: Verdict) => ({ ...gate, passed: false })],
    [
      'only says that it has passed',
      (gate: Verdict) => ({ ...gate, forgetting: { ...gate.forgetting, forgotten: 20 } }),
    ],
  ])('is refused where an adapter %s, whoever has signed it', async (_what, change) => {
    altered((found) => ({
      ...found,
      layers: found.layers.map((layer) => ({ ...layer, gate: change(layer.gate) })),
    }));
    await refused('EXPORT_INVALID');
  });

  test('is refused where a layer is not the one of its manifest, or a composition names another', async () => {
    altered((found) => ({ ...found, layers: found.layers.slice(0, 1) }));
    await refused('EXPORT_INVALID');
    cpSync(join(out, 'genome.json'), document);
    altered((found) => ({ ...found, base: sha256('another') }));
    await refused('EXPORT_INVALID');
  });

  test('is for the same model, whatever it is called here', async () => {
    there.base = join(folder, 'other.gguf');
    await refused('LAYER_BASE_MISSING');
    await refused('LAYER_BASE_MISSING', { baseModel: 'local/none' });
    there.base = join(folder, 'base.gguf');
    expect(await there.step('genome/import', { importPath: bad, baseModel: 'local/renamed' })).toMatchObject({
      baseModel: 'local/renamed',
    });
  });

  test('is signed by a key that a person has said to know', async () => {
    const elsewhere = join(folder, 'another-home');
    const signature = signatureOf(canonicalText(payload()), elsewhere);
    writeFileSync(
      document,
      `${canonicalText({ format: GENOME.format, version: GENOME.version, payload: payload(), signature })}\n`,
    );
    await refused('EXPORT_UNTRUSTED');
    addKnownKey(ownKey(elsewhere), 'the other machine');
    expect(await there.step('genome/import', { importPath: bad })).toMatchObject({
      signer: { name: 'the other machine' },
    });
  });

  test('is in a folder that is there, and no model says where', async () => {
    await refused('FILE_NOT_FOUND', { importPath: join(folder, 'nowhere') });
    await refused('RIGHTS_EXCEEDED', {}, { confinement: { byModel: true } });
    await refused('PATH_OUTSIDE_PROJECT', {}, { confinement: { mode: 'sandboxed' } });
    const linked = join(folder, 'linked');
    symlinkSync(bad, linked);
    await refused('FILE_NOT_FOUND', { importPath: linked });
  });
});
