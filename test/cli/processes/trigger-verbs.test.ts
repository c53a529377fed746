/** The verbs about triggers as typed: help of each, and mistakes found before anything starts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCli, type BuiltCli } from './built-cli.ts';

const GROUPS: { [group: string]: string[] } = {
  schedule: ['create', 'list', 'show', 'pause', 'resume', 'trigger', 'delete'],
  trigger: ['add', 'list', 'show', 'pause', 'resume', 'remove'],
  hooks: ['install', 'remove'],
  models: ['list', 'test', 'pull', 'add'],
};

let cli: BuiltCli;

beforeAll(async () => {
  cli = await buildCli();
  writeFileSync(
    join(cli.folder, 'hello.json'),
    JSON.stringify({ name: 'hello', steps: [{ type: 'emit', event: 'x' }], loop: { type: 'once' } }),
  );
  writeFileSync(
    join(cli.folder, 'broken.json'),
    JSON.stringify({ name: 'broken', steps: [{ type: 'shel' }], loop: { type: 'once' } }),
  );
  mkdirSync(join(cli.folder, 'project'));
  execFileSync('git', ['init', '-q', join(cli.folder, 'project')]);
});
afterAll(() => cli.remove());

describe('help', () => {
  it.each(Object.entries(GROUPS))('of %s names its verbs', async (group, verbs) => {
    const { code, stdout } = await cli.run([group, '--help']);
    expect(code).toBe(0);
    for (const verb of verbs) expect(stdout).toMatch(new RegExp(`^  ${verb} `, 'm'));
    expect(await cli.run([group])).toMatchObject({ code: 2, stdout: '' });
  });

  it.each(Object.entries(GROUPS).flatMap(([group, verbs]) => verbs.map((verb) => [group, verb] as const)))(
    'of %s %s has examples and --json',
    async (group, verb) => {
      const { code, stdout, stderr } = await cli.run([group, verb, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('--json');
      expect(stdout).toMatch(new RegExp(`Examples:\\n(.*\\n)*.*sentinel ${group} ${verb}`));
    },
  );
});

describe('mistakes', () => {
  const cases: { args: string[]; says: RegExp }[] = [
    {
      args: ['schedule', 'crate'],
      says: /^sentinel: "crate" is not a verb of "sentinel schedule"; write "create", or see "sentinel schedule --help"\.\n$/,
    },
    { args: ['trigger', 'x', 'y'], says: /too many arguments|is not a verb/ },
    { args: ['schedule', 'create'], says: /missing required argument "definition"/ },
    {
      args: ['schedule', 'create', 'hello.json'],
      says: /"hello" has no trigger of type "schedule"; say when it runs with --cron/,
    },
    {
      args: ['schedule', 'create', 'hello.json', '--overlap', 'both'],
      says: /--overlap is "both"; write one of skip, buffer, cancel, all/,
    },
    {
      args: ['schedule', 'create', 'hello.json', '--catchup', '1'],
      says: /--catchup is "1"; write milliseconds \(30000\) or a time with its unit .* from 10000 to 31622400000 ms/,
    },
    {
      args: ['schedule', 'create', 'hello.json', '--cron', '@daily', '--id', 'a b'],
      says: /"a b" cannot be a handle/,
    },
    {
      args: ['schedule', 'create', 'broken.json', '--cron', '@daily'],
      says: /broken\.json has problems; nothing was started/,
    },
    { args: ['trigger', 'add', 'nobody'], says: /no definition "nobody"/ },
    { args: ['trigger', 'add', 'hello.json', '--project', 'nowhere'], says: /--project nowhere does not exist/ },
    { args: ['emit'], says: /missing required argument "name"/ },
    { args: ['emit', 'a:*'], says: /"a:\*" is a pattern/ },
    { args: ['emit', ' '], says: /1 to 500 bytes/ },
    { args: ['emit', 'a', '--data', '{'], says: /--data is not JSON/ },
    { args: ['emit', 'a', '--data', '1', '--text', 'b=c'], says: /--text adds fields to an object/ },
    { args: ['emit', 'a', '--text', 'b'], says: /--text b has no name and text/ },
    { args: ['emit', 'a', '--id', ''], says: /--id has 1 to 200 bytes/ },
    { args: ['hooks', 'install'], says: /is not in a git repository/ },
    { args: ['worker', '--current'], says: /give it with --build-id/ },
    { args: ['worker', '--build-id', 'a b'], says: /SENTINEL_BUILD_ID \("a b"\) must be/ },
  ];

  it.each(cases)('$args', async ({ args, says }) => {
    const { code, stdout, stderr } = await cli.run(args);
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

it('an event that cannot be published because nothing is up is said with exit code 1', async () => {
  const { code, stdout } = await cli.run(['emit', 'a', '--if-up', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'SERVICES' } });
});

it('hooks are installed and removed, and say so as one document', async () => {
  const installed = await cli.run(['hooks', 'install', '--project', 'project', '--json']);
  expect(JSON.parse(installed.stdout)).toMatchObject({
    ok: true,
    hooks: [
      { hook: 'post-commit', event: 'git:commit', result: 'installed' },
      { hook: 'pre-push', event: 'git:push' },
    ],
  });
  const removed = await cli.run(['hooks', '--json', 'remove', '--project', 'project']);
  expect(JSON.parse(removed.stdout)).toMatchObject({ ok: true, hooks: [{ result: 'removed' }, { result: 'removed' }] });
});
