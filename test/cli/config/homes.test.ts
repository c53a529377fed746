/** A home or a state folder where none can be: each verb says which folder, why, and what to name instead. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCli, type BuiltCli } from '../processes/built-cli.ts';

let cli: BuiltCli;
let file: string;

beforeAll(async () => {
  cli = await buildCli();
  file = join(cli.folder, 'a-file');
  writeFileSync(file, '');
  mkdirSync(join(cli.folder, 'sentinels'));
  const steps = [{ type: 'shell', command: 'true' }];
  writeFileSync(join(cli.folder, 'sentinels/quick.json'), JSON.stringify({ name: 'quick', steps }));
}, 120_000);
afterAll(() => cli.remove());

const ACTING = [['up'], ['run', 'quick', '--json']].map((args) => [args] as const);

describe.each([
  ['a file', () => file],
  ['below a file', () => join(file, 'home')],
  ['where a folder can hold no other', () => '/proc/sentinel-home'],
])('SENTINEL_HOME %s', (_where, place) => {
  it.each(ACTING)('%j', async (args) => {
    const env = { SENTINEL_HOME: place(), DATABASE_URL: '', TEMPORAL_ADDRESS: '' };
    const { code, stdout, stderr } = await cli.run(args, { env });
    expect(code).toBeGreaterThan(0);
    const said = `${stdout}${stderr}`;
    expect(said).toContain(place());
    expect(said).toContain('SENTINEL_HOME');
    expect(said).not.toMatch(/BUG|\n\s*(│\s*)?at /);
  });
});

it('XDG_STATE_HOME where a folder can hold no other', async () => {
  const env = { XDG_STATE_HOME: '/proc/sentinel-state', SENTINEL_HOME: '', HOME: cli.folder };
  const { code, stdout, stderr } = await cli.run(['trust', '--home'], { env });
  expect(code).toBeGreaterThan(0);
  expect(`${stdout}${stderr}`).not.toMatch(/BUG|\n\s*(│\s*)?at /);
});
