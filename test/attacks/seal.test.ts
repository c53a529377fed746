/** What is sealed for a run is opened for that run alone, by whoever has the key, and for nobody else. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { defaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError, readConfig } from '../../services/config/config.ts';
import { decodePayloads } from '../../services/seal/decode-payloads.ts';
import { homeKeyFile, homeKeys } from '../../services/seal/home-key.ts';
import { PayloadSeal, SEALED_ENCODING } from '../../services/seal/payload-seal.ts';
import { keysIn, newKeyText, type SealKeys } from '../../services/config/seal-key.ts';
import { unsealed, unsealedFinding } from '../../workflows/messages/unsealed.ts';

const toPayload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const sealOf = (keys: SealKeys): PayloadSeal => new PayloadSeal({ keys, refused: (why) => toPayload(unsealed(why)) });
const [own, foreign] = [newKeyText(), newKeyText()];
const [seal, stranger] = [sealOf(keysIn(own)), sealOf(keysIn(foreign))];

const run = (handle: string): SerializationContext => ({
  type: 'workflow',
  namespace: 'default',
  workflowId: `sentinel/${handle}`,
});
const activity = (handle: string, activityId: string): SerializationContext => ({
  ...run(handle),
  type: 'activity',
  activityId,
  isLocal: false,
});

async function sealed(value: unknown, context: SerializationContext, by = seal): Promise<Payload> {
  const [payload] = await by.encode([toPayload(value)], context);
  if (payload === undefined) throw new Error('nothing was sealed');
  return payload;
}

async function opened(payload: Payload, context: SerializationContext | undefined, by = seal): Promise<unknown> {
  const [plain] = await by.decode([payload], context);
  return plain === undefined ? undefined : defaultPayloadConverter.fromPayload(plain);
}

/** What a message decoded from the wire holds where the sender left its bytes out, whatever its type says. */
const noBytes = [] as unknown as Uint8Array;

const starts = { definition: { name: 'build' }, inputs: { line: 'rm -rf build' } };
const large = { text: 'x'.repeat(100_000) };

test.each([['a text'], [0], [null], [[]], [starts], [large], [{ text: 'ä☃\u0000' }]])(
  'the run that a value was sealed for opens it: %#',
  async (value) => {
    expect(await opened(await sealed(value, run('a')), run('a'))).toEqual(value);
  },
);

test('so does nothing, and bytes', async () => {
  expect(await opened(await sealed(undefined, run('a')), run('a'))).toBeUndefined();
  const bytes = new Uint8Array([0, 1, 255]);
  expect(Buffer.from((await opened(await sealed(bytes, run('a')), run('a'))) as Uint8Array)).toEqual(
    Buffer.from(bytes),
  );
});

test('a value without bytes that was decoded from the wire is sealed and opened', async () => {
  const empty = { metadata: { encoding: Buffer.from('binary/null') }, data: noBytes };
  const [payload = {}] = await seal.encode([empty], run('a'));
  expect(await opened(payload, run('a'))).toBeUndefined();
});

test('nothing of a value is in what Temporal gets, and twice the same looks different', async () => {
  const payload = await sealed(starts, run('a'));
  expect(Object.keys(payload.metadata ?? {})).toEqual(['encoding']);
  expect(Buffer.from(payload.data ?? []).includes('build')).toBe(false);
  expect(payload.data).not.toEqual((await sealed(starts, run('a'))).data);
});

test('a large value of a run is the same bytes each time, so that it is stored once; of another run it is not', async () => {
  expect((await sealed(large, run('a'))).data).toEqual((await sealed(large, run('a'))).data);
  expect((await sealed(large, run('a'))).data).not.toEqual((await sealed(large, run('b'))).data);
});

test.each<[string, () => Promise<Payload> | Payload, SerializationContext]>([
  ['in clear', () => toPayload(starts), run('a')],
  [
    'that says it is sealed',
    () => ({ ...toPayload(starts), metadata: { encoding: Buffer.from(SEALED_ENCODING) } }),
    run('a'),
  ],
  ['without anything', () => ({}), run('a')],
  ['with the empty list that the wire knows for no bytes', () => ({ data: noBytes }), run('a')],
  ['that looks like the mark of one that was refused', () => toPayload(unsealed('unknown-key')), run('a')],
  ['of another run', () => sealed(starts, run('b')), run('a')],
  ['of the same run in another namespace', () => sealed(starts, { ...run('a'), namespace: 'other' }), run('a')],
  ['of an activity, for its run', () => sealed(starts, activity('a', 'steps.0@1')), run('a')],
  ['of another activity', () => sealed(starts, activity('a', 'steps.0@1')), activity('a', 'steps.1@1')],
  [
    'of a run whose name begins so, for what looks like a run of a schedule',
    () => sealed(starts, run('a')),
    run('a-2026-11-27T03:00:00Z'),
  ],
  [
    'of a schedule, for a run of another',
    () => sealed({ ...starts, origin: { type: 'schedule', schedule: 'a' } }, run('a')),
    run('b-2026-11-27T03:00:00Z'),
  ],
  ['of nobody', () => stranger.encode([toPayload(starts)]).then(([payload]) => payload ?? {}), run('a')],
])('a value %s is not taken', async (_what, make, context) => {
  expect(unsealedFinding(await opened(await make(), context))).not.toBeNull();
});

test('a value of the schedule is taken by its runs', async () => {
  const start = { ...starts, origin: { type: 'schedule', schedule: 'a' } };
  expect(await opened(await sealed(start, run('a')), run('a-2026-11-27T03:00:00Z'))).toEqual(start);
});

test('no byte of a sealed value can be changed', async () => {
  const { metadata, data } = await sealed('yes', run('a'));
  for (let at = 0; at < (data ?? []).length; at += 1) {
    const changed = Buffer.from(data ?? []);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(unsealedFinding(await opened({ ...(metadata && { metadata }), data: changed }, run('a')))).not.toBeNull();
    const cut = Buffer.from(data ?? []).subarray(0, at);
    expect(unsealedFinding(await opened({ ...(metadata && { metadata }), data: cut }, run('a')))).toBe('not-sealed');
  }
});

test('a key that is replaced opens what it sealed for as long as it is on the list', async () => {
  const before = await sealed('yes', run('a'));
  const rotated = sealOf(keysIn(`${foreign},${own}`));
  expect(await opened(before, run('a'), rotated)).toBe('yes');
  expect(await opened(await sealed('new', run('a'), rotated), run('a'), stranger)).toBe('new');
  expect(unsealedFinding(await opened(before, run('a'), stranger))).toBe('unknown-key');
});

function written(payload: Payload): unknown {
  const { metadata = {}, data = [] } = payload as { metadata?: Record<string, Uint8Array>; data?: Uint8Array };
  const fields = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  return { metadata: Object.fromEntries(fields) as unknown, data: Buffer.from(data).toString('base64') };
}

test('the Web UI is shown what there is a key for, and the rest as it is', async () => {
  const plain = written(toPayload('shown'));
  const closed = written(await sealed('hidden', run('a'), stranger));
  const body = { payloads: [written(await sealed('shown', run('a'))), plain, closed] };
  expect(await decodePayloads(keysIn(own), body)).toEqual({ payloads: [plain, plain, closed] });
  for (const wrong of [null, 'x', {}, { payloads: 1 }, { payloads: [{ data: 1 }] }])
    expect(await decodePayloads(keysIn(own), wrong)).toBeNull();
});

function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'sentinel-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

test('of many processes that make the key of a home at once, all have the same one, which stays', async () => {
  const home = temporaryHome();
  const module = join(import.meta.dirname, '../../dist/services/seal/home-key.js');
  const script = `import { homeKeys } from ${JSON.stringify(module)}; process.stdout.write(homeKeys(${JSON.stringify(home)})[0].id)`;
  const said = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      await once(child, 'close');
      return out;
    }),
  );
  expect(new Set(said)).toEqual(new Set([homeKeys(home)[0].id]));
  expect(statSync(homeKeyFile(home)).mode & 0o777).toBe(0o600);
});

const asNobody = (line: string): string =>
  execFileSync('su', ['nobody', '-s', '/bin/sh', '-c', `${line}; true`], { encoding: 'utf8', stdio: 'pipe' });

test.runIf(userInfo().uid === 0 && spawnSync('su', ['--version']).status === 0)(
  'another user of the machine cannot read the key of a home',
  () => {
    const home = temporaryHome();
    chmodSync(home, 0o755);
    homeKeys(home);
    writeFileSync(join(home, 'open'), 'x', { mode: 0o644 });
    expect(asNobody(`cat ${join(home, 'open')}`)).toBe('x');
    expect(asNobody(`cat ${homeKeyFile(home)} 2>&1`)).toContain('Permission denied');
  },
);

test('a key that others may read is refused, and so is a file that holds none', () => {
  const home = temporaryHome();
  homeKeys(home);
  chmodSync(homeKeyFile(home), 0o640);
  expect(() => homeKeys(home)).toThrow(/can be read by other users.*chmod 600/);
  writeFileSync(homeKeyFile(home), '');
  chmodSync(homeKeyFile(home), 0o600);
  expect(() => homeKeys(home)).toThrow(/seal\.key must be a key of 32 bytes/);
});

test('keys that are given', () => {
  const home = temporaryHome();
  const file = join(home, 'given');
  const read = (env: Record<string, string>): string | undefined =>
    readConfig({ SENTINEL_HOME: home, ...env }).seal?.keys;
  writeFileSync(file, `${own}\n${foreign}\n`);
  expect(read({})).toBeUndefined();
  expect(read({ SENTINEL_KEY: own })).toBe(own);
  expect(keysIn(read({ SENTINEL_KEY_FILE: file }) ?? '').map(({ id }) => id)).toEqual(
    keysIn(`${own},${foreign}`).map(({ id }) => id),
  );
  expect(keysIn(Buffer.from(own, 'hex').toString('base64'))[0].id).toBe(keysIn(own)[0].id);
  for (const wrong of ['short', own.slice(1), `${own},x`, 'g'.repeat(64)])
    expect(() => read({ SENTINEL_KEY: wrong })).toThrow(/^SENTINEL_KEY must be a key of 32 bytes/);
  expect(() => read({ SENTINEL_KEY: own, SENTINEL_KEY_FILE: file })).toThrow(ConfigError);
  expect(() => read({ SENTINEL_KEY_FILE: join(home, 'none') })).toThrow(/names a file that does not exist/);
  writeFileSync(file, 'nothing');
  expect(() => read({ SENTINEL_KEY_FILE: file })).toThrow(/^SENTINEL_KEY_FILE must be a key/);
});
