/** What a step's processes get of the worker's environment, and how a secret is found in what they print. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { isPassedOn } from '../../world/processes/child-environment.ts';
import { NOBODY_THERE } from '../../world/processes/nobody-there.ts';
import { secretsOf } from '../../operations/secrets/secrets.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { repository } from '../activities/harness/repository.ts';
import { type AttackedMode, command, hasSandbox, shell } from './inside.ts';

function set(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name];
    process.env[name] = value;
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

async function environmentOf(mode: AttackedMode, env: Record<string, string> = {}): Promise<Record<string, string>> {
  const { stdout } = await shell(await temporaryFolder(), { command: 'env -0 | tr "\\0\\n" "\\n "', env }, mode);
  const lines = stdout.split('\n').filter((line) => line.includes('='));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

const secret = {
  STRIPE_KEY: 'v',
  GITHUB_PAT: 'v',
  DB_PASS: 'v',
  REDIS_URL: 'v',
  AWS_SECRET_ACCESS_KEY: 'v',
  NPM_TOKEN: 'v',
  SLACK_WEBHOOK: 'v',
  SENTRY_DSN: 'v',
  MONGODB_URI: 'v',
  JWT_SIGNING: 'v',
  SESSION_SALT: 'v',
  GOOGLE_APPLICATION_CREDENTIALS: 'v',
  PGPASSWORD: 'v',
  CLICKHOUSE_URL: 'v',
  SSH_AUTH_SOCK: 'v',
  ACCESS_TOKENS: 'v',
  SIGNING_KEYS: 'v',
};
const own = {
  SENTINEL_ANYTHING: 'v',
  TEMPORAL_ADDRESS: 'v',
  TEMPORAL_API_KEY: 'v',
  DATABASE_URL: 'v',
  PGHOST: 'v',
  GIT_DIR: 'v',
};

describe("the worker's environment", () => {
  it('in full: without secrets and without its own settings', async () => {
    set({ ...secret, ...own, PLAIN_SETTING: 'kept', NODE_OPTIONS: '--no-warnings' });
    const seen = await environmentOf('full');
    for (const name of [...Object.keys(secret), ...Object.keys(own)]) expect(seen).not.toHaveProperty(name);
    expect(seen).toMatchObject({ PLAIN_SETTING: 'kept', NODE_OPTIONS: '--no-warnings', PATH: process.env['PATH'] });
  });

  it.runIf(hasSandbox)('sandboxed: a short list', async () => {
    set({
      ...secret,
      ...own,
      PLAIN_SETTING: 'no',
      EDITOR: 'emacs',
      GIT_PAGER: 'of-the-worker',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
    });
    const { PATH, HOME, ...rest } = await environmentOf('sandboxed');
    expect({ PATH, HOME }).toEqual({ PATH: process.env['PATH'], HOME: '/tmp/home' });
    const allowed = [
      'USER',
      'LOGNAME',
      'SHELL',
      'LANG',
      'LANGUAGE',
      'TERM',
      'COLORTERM',
      'COLUMNS',
      'LINES',
      'TZ',
      'TMPDIR',
      'CI',
      'NO_COLOR',
      'FORCE_COLOR',
      'SENTINEL_STEP',
      'SENTINEL_WORKER',
      'PWD',
      'OLDPWD',
      'SHLVL',
      '_',
    ];
    expect(rest).toMatchObject(NOBODY_THERE);
    const others = Object.keys(rest).filter((name) => !Object.hasOwn(NOBODY_THERE, name));
    expect(others.filter((name) => !allowed.includes(name) && !name.startsWith('LC_'))).toEqual([]);
  });

  it.each<AttackedMode>(['full', ...(hasSandbox ? (['sandboxed'] as const) : [])])(
    '%s: what the definition names, and what SENTINEL_STEP_ENV names',
    async (mode) => {
      set({ ...secret, SENTINEL_STEP_ENV: 'STRIPE_KEY, SSH_AUTH_SOCK' });
      const seen = await environmentOf(mode, { GITHUB_PAT: 'named' });
      expect(seen).toMatchObject({ STRIPE_KEY: 'v', SSH_AUTH_SOCK: 'v', GITHUB_PAT: 'named' });
      expect(seen).not.toHaveProperty('DB_PASS');
      expect(seen).not.toHaveProperty('SENTINEL_STEP_ENV');
    },
  );

  it('readonly: git gets the short list, too', async () => {
    expect(
      ['STRIPE_KEY', 'PLAIN_SETTING', 'LD_PRELOAD', 'GIT_DIR'].filter((name) => isPassedOn(name, 'readonly')),
    ).toEqual([]);
    expect(['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TZ'].every((name) => isPassedOn(name, 'readonly'))).toBe(true);
  });

  it('a push keeps the agent that remotes are reached by', async () => {
    set({ SSH_AUTH_SOCK: '/agent' });
    const project = await repository();
    const said = await command(project, 'code/git', { operation: 'push', remote: 'none' }, 'full').catch(String);
    expect(said).toContain('none');
    await shell(
      project,
      { command: 'git config remote.origin.url "ext::sh -c env>seen;false" && git config protocol.ext.allow always' },
      'full',
    );
    await command(project, 'code/git', { operation: 'push' }, 'full').catch(() => undefined);
    expect((await shell(project, { command: 'grep SSH_AUTH_SOCK seen' }, 'full')).stdout).toBe(
      'SSH_AUTH_SOCK=/agent\n',
    );
  });
});

describe('a secret in base64', () => {
  const value = 'hunter2?>hunter2?>';
  const store = { secrets: { find: () => Promise.resolve(new Map()) } } as unknown as Parameters<typeof secretsOf>[0];

  it.each([0, 1, 2, 3, 4, 5])('is found behind %d other bytes, in both alphabets', async (before) => {
    const { logs } = await secretsOf(store, { API_TOKEN: value });
    for (const alphabet of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${'user:'.slice(0, before)}${value}@host`).toString(alphabet);
      const masked = logs.text(`Authorization: Basic ${text}`);
      expect(masked).toContain('[env API_TOKEN]');
      const left = masked.replace('Authorization: Basic ', '').split('[env API_TOKEN]');
      expect(left.map((part) => Buffer.from(part, alphabet).toString('latin1')).join(' ')).not.toMatch(
        /hun|ter|r2|\?>/,
      );
    }
  });
});
