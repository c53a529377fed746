/** Values of listed environment variables: out of results, logs and events, wherever a chunk is cut. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import * as z from 'zod';
import { defineCommand } from '../../../operations/command.ts';
import { commandContext } from '../harness/command-context.ts';
import { describe, expect, it } from 'vitest';
import { secretsOf, unsealedFor, withMaskedFailures } from '../../../operations/secrets/secrets.ts';
import { Failure } from '../../../world/failures/failures.ts';
import type { ShellRequest } from '../../../operations/shell/request.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { StreamMask } from '../../../operations/shell/output/stream-mask.ts';
import { sealEnvironment, withHanded } from '../../../runs/seal-environment.ts';
import { Masker } from '../../../language/masking/masker.ts';
import { hiddenOf, looksSecret } from '../../../language/secrets.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import type { JsonObject } from '../../../language/json.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { shellContext, temporaryFolder } from '../harness/step-context.ts';

/** The port of the store that keeps values, in memory. */
function vault(): Pick<Store, 'secrets'> {
  const kept = new Map<string, string>();
  return {
    secrets: {
      keep: async (_handle, values) => values.forEach((value, token) => kept.set(token, value)),
      find: async (tokens) =>
        new Map(tokens.flatMap((token) => (kept.has(token) ? [[token, kept.get(token) ?? '']] : []))),
      tokensOf: async () => [...kept.keys()],
      retire: async (tokens) => tokens.forEach((token) => kept.delete(token)),
      ofSchedules: async () => [],
      sweep: async () => undefined,
    },
  };
}

const registry = builtInRegistry();
const value = `s3cr'et "$x" ü`;
const plain = 'production';

async function opened() {
  const store = vault();
  const env = await sealEnvironment(store, 'run', { DEPLOY_TOKEN: value, STAGE: plain });
  return { store, env, token: env['DEPLOY_TOKEN'] ?? '', secrets: await secretsOf(store, env) };
}

async function run(request: Partial<ShellRequest>, opening: Awaited<ReturnType<typeof opened>>) {
  const context = shellContext(await temporaryFolder(), { secrets: opening.secrets });
  const unsealed = { timeoutMs: 30_000, ...opening.secrets.unsealShell({ command: 'true', ...request }) };
  const result = await withMaskedFailures(opening.secrets, () => runShell(unsealed, context));
  return { result, log: context.log };
}

describe('a run with listed environment variables', () => {
  it('holds a token for a secret, and a value for what is none', async () => {
    const { env, token } = await opened();
    expect(token).toMatch(/^sealed_DEPLOY_TOKEN_[0-9a-f]{32}$/);
    expect(env['STAGE']).toBe(plain);
  });

  it('hands a token on to a run that its step starts, beside the variable that this run lists itself', async () => {
    const { env, token } = await opened();
    const own = { DEPLOY_TOKEN: 'own', 'given secret DEPLOY_TOKEN': 'earlier' };
    expect(withHanded({}, env)).toEqual(env);
    expect(withHanded(own, { DEPLOY_TOKEN: token })).toEqual({
      ...own,
      'given secret given secret DEPLOY_TOKEN': token,
    });
    expect(looksSecret('given secret KEY')).toBe(true);
  });

  it('gives the value to the process: by variable, in single quotes, as an argument, by stdin', async () => {
    const opening = await opened();
    const length = String(value.length);
    const count = `process.stdout.write(String([...process.env.A || process.argv[1] || require('fs').readFileSync(0, 'utf8')].length))`;
    expect(
      (await run({ command: `node -e "${count.replaceAll('"', '\\"')}"`, env: { A: opening.token } }, opening)).result
        .stdout,
    ).toBe(length);
    expect((await run({ command: `printf %s 'x ${opening.token}' | wc -m` }, opening)).result.stdout.trim()).toBe(
      String(value.length + 2),
    );
    expect((await run({ command: 'node', args: ['-e', count, opening.token] }, opening)).result.stdout).toBe(length);
    expect((await run({ command: 'node', args: ['-e', count], stdin: opening.token }, opening)).result.stdout).toBe(
      length,
    );
  });

  it('shows neither value nor token in the log, and no value in the result', async () => {
    const opening = await opened();
    const { result, log } = await run(
      { command: 'echo "$A and $B"; echo "$A" >&2; printf %s "$A" | base64 -w0', env: { A: opening.token, B: plain } },
      opening,
    );
    expect(result.stdout).toBe(
      `${opening.token} and production\n[env DEPLOY_TOKEN]${'='.repeat((3 - (Buffer.byteLength(value) % 3)) % 3)}`,
    );
    expect(log.text('stdout')).toContain('[env DEPLOY_TOKEN] and [env STAGE]\n');
    expect(log.text('stderr')).toBe('[env DEPLOY_TOKEN]\n');
    expect(JSON.stringify([result, [...log.chunks.values()]])).not.toContain('s3cr');
  });

  it('masks a value that is printed in pieces', async () => {
    const opening = await opened();
    const slowly = `const text = 'a ' + process.env.A + ' z'; let at = 0; const timer = setInterval(() => { if (at >= text.length) clearInterval(timer); else process.stdout.write(text[at++]); }, 5)`;
    const { result, log } = await run({ command: 'node', args: ['-e', slowly], env: { A: opening.token } }, opening);
    expect(result.stdout).toBe(`a ${opening.token} z`);
    expect(log.text('stdout')).toBe('a [env DEPLOY_TOKEN] z');
  });

  it('quotes no value in a failure', async () => {
    const { secrets, token } = await opened();
    const failing = withMaskedFailures(secrets, () =>
      Promise.reject(new Failure('X', `got ${value}`, { details: { said: [value] } })),
    );
    await expect(failing).rejects.toMatchObject({ code: 'X', message: `got ${token}`, details: { said: [token] } });
  });

  it('fails clearly when a value is gone', async () => {
    const { env } = await opened();
    await expect(secretsOf(vault(), env)).rejects.toMatchObject({ code: 'SECRET_GONE' });
  });
});

describe('a secret beside a process', () => {
  it('keeps its token where the params are kept: as data, and for a process that any worker may start', async () => {
    const { secrets, token } = await opened();
    const params = { command: 'deploy', env: { A: token } };
    const given = (name: string, more: JsonObject = {}) =>
      unsealedFor(registry.find(name), { ...params, ...more }, secrets);
    expect(given('code/shell/execute', { wait: false })).toEqual({ ...params, wait: false });
    for (const kept of ['data/create', 'collaboration/chat/send', 'sentinel/run', 'no/such'])
      expect(given(kept)).toEqual(params);
    expect(given('code/shell/execute')).toEqual({ command: 'deploy', env: { A: value } });
  });

  it('a command that keeps its token may have another act on the world with the value', async () => {
    const { secrets, token } = await opened();
    const project = await temporaryFolder();
    const keeps = defineCommand({
      name: 'test/keeps',
      permission: 'write',
      speed: 'long',
      params: z.strictObject({ content: z.string() }),
      result: z.string(),
      async run({ content }, context) {
        await context.call('code/write', { path: 'key.txt', content });
        return content;
      },
    });
    const both = builtInRegistry({}, [keeps]);
    const context = commandContext(project, { secrets });
    const params = unsealedFor(keeps, { content: token }, secrets);
    expect(await both.run(keeps.name, params, context)).toBe(token);
    expect(readFileSync(join(project, 'key.txt'), 'utf8')).toBe(value);
  });

  it.each(Array.from({ length: 10 }, (_, at) => 180 + 3 * at))(
    'quotes no part of a value either, where a long line is cut (%d characters before it)',
    async (length) => {
      const opening = await opened();
      const failing = run(
        { command: `: ${'x'.repeat(length + 1)} '${opening.token}'; sleep 9`, timeoutMs: 1 },
        opening,
      );
      const failure: unknown = await failing.catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'STEP_TIMEOUT' });
      expect(String(failure)).not.toContain('s3');
    },
  );
});

describe('masking a stream', () => {
  it('gives the same however the stream is cut', () => {
    const masks = new Masker(hiddenOf({ A_KEY: 'abcabcabd', B_KEY: 'abcabc', C_KEY: 'ddddé' }));
    const text = fc
      .array(fc.constantFrom('abcabcabd', 'abcabc', 'ddddé', 'ab', 'c', 'd', 'x', 'é'), { maxLength: 12 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 30 }), { maxLength: 8 }), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted((a, b) => a - b);
        const mask = new StreamMask(masks);
        const written = at.slice(1).map((end, index) => mask.write(bytes.subarray(at[index], end)));
        const masked = Buffer.concat([...written, mask.end()]).toString();
        const once = new StreamMask(masks);
        expect(masked).toBe(Buffer.concat([once.write(bytes), once.end()]).toString());
        for (const { text: hidden } of masks.hidden) expect(masked).not.toContain(hidden);
      }),
      { numRuns: 2000 },
    );
  });

  it('holds back nothing that cannot become a value', () => {
    expect(new StreamMask(new Masker(hiddenOf({ A_KEY: 'secret' }))).write(Buffer.from('a prompt: ')).toString()).toBe(
      'a prompt: ',
    );
  });
});

describe('what is masked', () => {
  it.each(['API_KEY', 'GITHUB_TOKEN', 'DB_PASSWORD', 'DATABASE_URL', 'MY_SECRET_2', 'secretValue', 'STRIPE_KEY'])(
    '%s looks secret',
    (name) => {
      expect(looksSecret(name)).toBe(true);
    },
  );

  it.each(['HOME', 'PWD', 'NODE_ENV', 'MONKEY', 'KEYBOARD', 'PATH', 'CI', 'BASE_URL', 'COMPASS'])(
    '%s does not',
    (name) => {
      expect(looksSecret(name)).toBe(false);
    },
  );

  it('masks every spelling, in every text of a value', () => {
    const masks = new Masker(hiddenOf({ A_KEY: 'a"b c/d', STAGE: 'short', ZONE: 'longer' }));
    expect(masks.text('a"b c/d a\\"b c/d a%22b%20c%2Fd short longer')).toBe(
      '[env A_KEY] [env A_KEY] [env A_KEY] short [env ZONE]',
    );
    expect(masks.json({ 'is longer': ['longer', 1, null] })).toEqual({ 'is [env ZONE]': ['[env ZONE]', 1, null] });
  });
});
