/** Settings and services that keep a client from its work are told to programs as its own errors. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { asClientError } from '../../../client/contract/as-client-error.ts';
import { ClientError, readDefinition, SentinelClient } from '../../../client/package/client.ts';
import type { Definition } from '../../../language/model.ts';
import type { Run } from '../../../prisma/store/contract/contract.ts';
import { Failure } from '../../../world/failures/failures.ts';

const home = mkdtempSync(join(tmpdir(), 'sentinel-client-errors-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  const error: unknown = await work().catch((thrown: unknown) => thrown);
  return error instanceof ClientError ? `${error.code}: ${error.message}` : `no ClientError: ${String(error)}`;
}

const wronglySet = async (): Promise<Run[]> => new SentinelClient({ env: { TEMPORAL_ADDRESS: 'http://x' } }).list();

test('services that are not up', async () => {
  const client = new SentinelClient({ startsServices: false, env: { SENTINEL_HOME: home } });
  const down = /^SERVICES: Postgres is not up.*"sentinel up" starts the services\.$/;
  expect(await codeOf(() => client.list())).toMatch(down);
  const hello: Definition = { name: 'hello', steps: [], loop: { type: 'once' } };
  expect(await codeOf(() => client.start(hello, { project: home }))).toMatch(down);
  expect(await codeOf(() => client.start(hello, { project: 'here' }))).toBe(
    'USAGE: project is "here"; give an absolute path.',
  );
  await client.close();
});

test('settings that cannot be used', async () => {
  expect(await codeOf(wronglySet)).toMatch(/^SETTINGS: TEMPORAL_ADDRESS .*host:port/);
  for (const name of ['ts', 'mjs']) writeFileSync(join(home, `sentinel.config.${name}`), 'export default {};');
  expect(await codeOf(() => readDefinition('x.json', { project: home }))).toMatch(/^SETTINGS: .*keep one of them\.$/);
});

test('a sandbox that is not there, and what is a bug', () => {
  const missing = new Failure('SANDBOX_NOT_AVAILABLE', 'none here');
  expect(asClientError(missing)).toMatchObject({ code: 'SANDBOX_NOT_AVAILABLE', message: 'none here', cause: missing });
  expect(asClientError(new TypeError('x is not a function'))).toBeNull();
});
