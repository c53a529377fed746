/** Settings as users write them, from the environment and from what the services recorded. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type Config,
  ConfigError,
  connectionOptions,
  databaseUrl,
  readConfig,
  settingsFingerprint,
  withAbsolutePaths,
} from '../../services/config/config.ts';
import {
  readServicesState,
  servicesFile,
  type ServicesState,
  writeServicesState,
} from '../../services/config/services-state.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const home = mkdtempSync(join(tmpdir(), 'sentinel-config-'));
const pem = join(home, 'some.pem');
writeFileSync(pem, 'PEM');
afterAll(() => rmSync(home, { recursive: true }));

const read = (env: Record<string, string> = {}): Config => readConfig({ SENTINEL_HOME: home, ...env });

const accepted: [string, Record<string, string>, (config: Config) => unknown, unknown][] = [
  [
    'no address',
    {},
    ({ temporal }) => temporal,
    { address: null, isExternal: false, namespace: 'default', apiKey: null, tls: null },
  ],
  [
    'an address',
    { TEMPORAL_ADDRESS: 'there:7000' },
    ({ temporal }) => [temporal.address, temporal.isExternal],
    ['there:7000', true],
  ],
  ['an address without a port', { TEMPORAL_ADDRESS: 'there' }, ({ temporal }) => temporal.address, 'there:7233'],
  ['an IPv6 address', { TEMPORAL_ADDRESS: '[::1]:7000' }, ({ temporal }) => temporal.address, '[::1]:7000'],
  ['an empty variable as unset', { TEMPORAL_ADDRESS: ' ' }, ({ temporal }) => temporal.isExternal, false],
  ['the default queue', {}, ({ taskQueues }) => taskQueues, ['sentinel']],
  ['queues, each once', { SENTINEL_TASK_QUEUES: ' a, b@host ,a,' }, ({ taskQueues }) => taskQueues, ['a', 'b@host']],
  [
    'a database',
    { DATABASE_URL: 'postgres://u:p@db:1/x' },
    ({ database }) => database,
    { url: 'postgres://u:p@db:1/x', isExternal: true },
  ],
  ['the Web UI of a server', { TEMPORAL_ADDRESS: 'there:7233' }, ({ webUrl }) => webUrl, 'http://there:8233'],
  [
    'the Web UI of Temporal Cloud',
    { TEMPORAL_ADDRESS: 'n.a.tmprl.cloud:7233' },
    ({ webUrl }) => webUrl,
    'https://cloud.temporal.io',
  ],
  ["a Web UI of one's own", { SENTINEL_WEB_URL: 'https://ui.example/' }, ({ webUrl }) => webUrl, 'https://ui.example'],
  ['the cache in the XDG place', { XDG_CACHE_HOME: '/x' }, ({ cacheDir }) => cacheDir, '/x/sentinel'],
  ['the cache by default', {}, ({ cacheDir }) => cacheDir, join(homedir(), '.cache/sentinel')],
  ['no webhooks without a secret', { SENTINEL_WEBHOOK_PORT: '9' }, ({ webhooks }) => webhooks, null],
  [
    'webhooks',
    { SENTINEL_WEBHOOK_SECRET: 'sixteen letters!, sixteen others!!' },
    ({ webhooks }) => webhooks,
    { host: '127.0.0.1', port: 7246, secrets: ['sixteen letters!', 'sixteen others!!'] },
  ],
  ['no version', { SENTINEL_DEPLOYMENT: 'x' }, ({ version }) => version, null],
  ['how much at once', { SENTINEL_STEPS_AT_ONCE: '4' }, ({ stepsAtOnce }) => stepsAtOnce, 4],
  ['no checkpoints', { SENTINEL_CHECKPOINTS: 'false' }, ({ checkpoints }) => checkpoints, false],
  ['checkpoints unless told otherwise', {}, ({ checkpoints }) => checkpoints, true],
  ['nothing of how much at once', {}, ({ stepsAtOnce }) => stepsAtOnce, null],
  ['a minute to end in', {}, ({ graceMs }) => graceMs, 60_000],
  ['another time to end in', { SENTINEL_GRACE_SECONDS: '5' }, ({ graceMs }) => graceMs, 5_000],
  ['a version', { SENTINEL_BUILD_ID: '1.2' }, ({ version }) => version, { deploymentName: 'sentinel', buildId: '1.2' }],
  [
    'preferred ports',
    { SENTINEL_TEMPORAL_PORT: '9000' },
    ({ preferredPorts }) => preferredPorts,
    { temporal: 9000, temporalUi: 10_000 },
  ],
];

const refused: [string, Record<string, string>, RegExp][] = [
  [
    'a scheme',
    { TEMPORAL_ADDRESS: 'http://there:7233' },
    /^TEMPORAL_ADDRESS \("http:\/\/there:7233"\) must be host:port without a scheme/,
  ],
  ['another database', { DATABASE_URL: 'mysql://u:secret@db/x' }, /^DATABASE_URL must be a postgres:\/\//],
  [
    'half a certificate',
    { TEMPORAL_ADDRESS: 'a', TEMPORAL_TLS_CERT: pem },
    /TEMPORAL_TLS_CERT is set without TEMPORAL_TLS_KEY/,
  ],
  [
    'a file that is not there',
    { TEMPORAL_ADDRESS: 'a', TEMPORAL_TLS_CA: '/no/such.pem' },
    /TEMPORAL_TLS_CA \("\/no\/such.pem"\) names a file that does not exist/,
  ],
  [
    'a key without TLS',
    { TEMPORAL_ADDRESS: 'a', TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'false' },
    /TEMPORAL_TLS is false, yet/,
  ],
  ['a key for nobody', { TEMPORAL_API_KEY: 'k' }, /without TEMPORAL_ADDRESS/],
  ['neither true nor false', { TEMPORAL_TLS: 'perhaps' }, /TEMPORAL_TLS \("perhaps"\) must be true or false/],
  ['no queue', { SENTINEL_TASK_QUEUES: ',' }, /names no queue/],
  [
    'a secret that is too short',
    { SENTINEL_WEBHOOK_SECRET: 'short' },
    /^SENTINEL_WEBHOOK_SECRET must be a text of at least 16 characters/,
  ],
  ['no time to end in', { SENTINEL_GRACE_SECONDS: '0' }, /^SENTINEL_GRACE_SECONDS \("0"\) must be at least 1/],
  ['a time in words', { SENTINEL_GRACE_SECONDS: '1m' }, /^SENTINEL_GRACE_SECONDS \("1m"\) must be a number of seconds/],
  ['a build id with a blank', { SENTINEL_BUILD_ID: 'a b' }, /^SENTINEL_BUILD_ID \("a b"\) must be/],
  [
    'a port out of range',
    { SENTINEL_TEMPORAL_PORT: '70000' },
    /SENTINEL_TEMPORAL_PORT \("70000"\) must be between 1 and 65535/,
  ],
];

describe('readConfig', () => {
  it.each(accepted)('reads %s', (_name, env, pick, expected) => {
    expect(pick(read(env))).toEqual(expected);
  });

  it.each(refused)('refuses %s in one sentence', (_name, env, message) => {
    expect(() => read(env)).toThrow(ConfigError);
    expect(() => read(env)).toThrow(message);
  });

  it('never shows a secret', () => {
    expect(() => read({ DATABASE_URL: 'mysql://u:secret@db/x' })).not.toThrow(/secret/);
  });

  it('keeps its home in the checkout by default', () => {
    const config = readConfig({});
    expect([config.packageRoot, config.home]).toEqual([root, join(root, '.sentinel')]);
  });
});

const options = (env: Record<string, string>) => connectionOptions(read({ TEMPORAL_ADDRESS: 'there:1', ...env }));

describe('connectionOptions', () => {
  it('are plain for a plain server', () => expect(options({})).toEqual({ address: 'there:1' }));
  it('use TLS with an API key', () =>
    expect(options({ TEMPORAL_API_KEY: 'k' })).toEqual({ address: 'there:1', apiKey: 'k', tls: {} }));
  it('carry certificates', () => {
    const pemBytes = Buffer.from('PEM');
    expect(
      options({ TEMPORAL_TLS_CERT: pem, TEMPORAL_TLS_KEY: pem, TEMPORAL_TLS_CA: pem, TEMPORAL_TLS_SERVER_NAME: 'n' }),
    ).toEqual({
      address: 'there:1',
      tls: {
        serverNameOverride: 'n',
        serverRootCACertificate: pemBytes,
        clientCertPair: { crt: pemBytes, key: pemBytes },
      },
    });
  });
  it('say what to do when nothing is known', () => {
    expect(() => connectionOptions(read())).toThrow(/run `sentinel up`, or set TEMPORAL_ADDRESS/);
    expect(() => databaseUrl(read())).toThrow(/run `sentinel up`, or set DATABASE_URL/);
  });
});

describe('recorded services', () => {
  const state: ServicesState = {
    version: 1,
    supervisor: { pid: 1, startTime: 's', startedAt: 0 },
    phase: 'ready',
    progress: null,
    failure: null,
    warnings: [],
    settings: 'x',
    temporal: {
      isExternal: false,
      address: '127.0.0.1:7',
      webUrl: 'http://127.0.0.1:8',
      port: 7,
      uiPort: 8,
      socket: null,
      webSocket: null,
      version: null,
      foundAs: '',
      process: null,
    },
    postgres: {
      isExternal: false,
      url: 'postgres://a@localhost:5432/b?host=%2Fc',
      socket: '/c/.s.PGSQL.5432',
      dataDir: null,
      version: null,
      foundAs: '',
      process: null,
    },
    workers: [],
    worker: null,
  };

  it('give the addresses that the environment does not', () => {
    writeServicesState(home, state);
    const config = read();
    expect([config.temporal.address, config.database.url, config.webUrl]).toEqual([
      '127.0.0.1:7',
      'postgres://a@localhost:5432/b?host=%2Fc',
      'http://127.0.0.1:8',
    ]);
    expect(read({ TEMPORAL_ADDRESS: 'there:1' }).temporal.address).toBe('there:1');
  });

  it('give none after they were stopped', () => {
    writeServicesState(home, { ...state, phase: 'stopped' });
    expect(read().temporal.address).toBeNull();
  });

  it.each(['', '{', '{"version":2}', 'null'])('are unknown when the file holds %j', (content) => {
    writeFileSync(servicesFile(home), content);
    expect(readServicesState(home)).toBeNull();
  });
});

describe('settingsFingerprint', () => {
  it.each([
    ['TEMPORAL_ADDRESS', 'there:1'],
    ['TEMPORAL_NAMESPACE', 'other'],
    ['DATABASE_URL', 'postgres://a@b/c'],
    ['SENTINEL_TASK_QUEUES', 'other'],
    ['SENTINEL_STEPS_AT_ONCE', '4'],
    ['SENTINEL_GRACE_SECONDS', '5'],
  ])('changes with %s', (name, value) => {
    expect(settingsFingerprint(read({ [name]: value }))).not.toBe(settingsFingerprint(read()));
  });

  it('does not change with where embedded services happen to be', () => {
    const before = settingsFingerprint(read());
    expect(settingsFingerprint(read({ SENTINEL_TEMPORAL_PORT: '9' }))).toBe(before);
  });
});

it('paths are the same in whichever folder a process of ours runs', () => {
  expect(
    withAbsolutePaths({
      SENTINEL_HOME: 'here',
      TEMPORAL_TLS_CA: '../ca.pem',
      SENTINEL_KEY_FILE: '/k',
      SENTINEL_CACHE: '',
      A: './b',
    }),
  ).toEqual({
    SENTINEL_HOME: join(process.cwd(), 'here'),
    TEMPORAL_TLS_CA: join(process.cwd(), '..', 'ca.pem'),
    SENTINEL_KEY_FILE: '/k',
    SENTINEL_CACHE: '',
    A: './b',
  });
});
