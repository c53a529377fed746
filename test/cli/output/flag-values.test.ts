/**
 * Each flag of each verb is given odd values: it takes them or says what is wrong with them, and no verb breaks. Nothing is
 * up here, so a verb ends where it would ask a service, with words of its own for that.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError, type Argument, type Option } from 'commander';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { asClientError } from '../../../client/contract/as-client-error.ts';
import { VERBS } from '../../../cli/verbs.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-flags-'));
const before = process.cwd();

beforeAll(() => {
  process.chdir(folder);
  writeFileSync('hello.json', '{"name": "hello", "steps": [{"type": "emit", "event": "x"}]}');
  for (const [name, value] of Object.entries({
    SENTINEL_HOME: join(folder, 'home'),
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    SENTINEL_TRUST: 'all',
  }))
    vi.stubEnv(name, value);
});
afterEach(() => {
  process.exitCode = undefined;
});
afterAll(() => {
  vi.unstubAllEnvs();
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const ODD = [
  '',
  '-1',
  '99999999999999999999',
  'NaN',
  'nul\0',
  '{"a":{"$foo":1}}',
  'europe/zurihc',
  '2026-02-30',
  'x'.repeat(5_000),
  '/dev/null/x',
];

/** These go on until they are ended, make something of this machine, or ask a person. */
const GO_ON = new Set(['worker', 'web', 'up', 'down', 'mcp serve', 'models pull', 'init', 'doctor']);

interface Leaf {
  path: string[];
  command: Command;
}

async function leaves(): Promise<Leaf[]> {
  const found: Leaf[] = [];
  for (const [name, { load }] of Object.entries(VERBS)) {
    const command = await built(name, load);
    if (command.commands.length === 0) found.push({ path: [name], command });
    else for (const below of command.commands) found.push({ path: [name, below.name()], command: below });
  }
  return found.filter(({ path }) => !GO_ON.has(path.join(' ')) && !GO_ON.has(path[0] ?? ''));
}

/** A verb of its own each time: what one call has set is not there at the next. */
async function built(name: string, load: (typeof VERBS)[string]['load']): Promise<Command> {
  const command = new Command(name)
    .option('--json')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  await (await load()).define(command, [name]);
  for (const below of command.commands)
    below.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  return command;
}

const wordFor = (argument: Argument): string =>
  /file|definition/i.test(argument.name()) ? 'hello.json' : /handle/i.test(argument.name()) ? 'hello-7f3k2q9d' : 'x';

const takesValue = (option: Option): boolean => option.required || option.optional;

/** What a verb that broke would show. */
async function broken(argv: string[]): Promise<string | null> {
  const [verb = ''] = argv;
  const load = VERBS[verb]?.load;
  if (load === undefined) return `no verb ${verb}`;
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const noted = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await (await built(verb, load)).parseAsync(argv.slice(1), { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError || asClientError(error) !== null) return null;
    return `${JSON.stringify(argv.map((word) => word.slice(0, 60)))}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  } finally {
    said.mockRestore();
    noted.mockRestore();
  }
}

const all = await leaves();

test.each(all.map(({ path, command }) => [path.join(' '), path, command] as const))(
  '%s',
  { timeout: 120_000 },
  async (_name, path, command) => {
    const words = command.registeredArguments.filter(({ required }) => required).map(wordFor);
    const faults: string[] = [];
    for (const option of command.options.filter(takesValue))
      for (const value of ODD) {
        const fault = await broken([...path, ...words, `${option.long ?? option.short}=${value}`]);
        if (fault !== null) faults.push(fault);
      }
    for (const [index] of command.registeredArguments.entries())
      for (const value of ODD) {
        const given = command.registeredArguments
          .slice(0, Math.max(words.length, index + 1))
          .map((argument, at) => (at === index ? value : wordFor(argument)));
        const fault = await broken([...path, '--', ...given]);
        if (fault !== null) faults.push(fault);
      }
    expect(faults.slice(0, 3).join('\n')).toBe('');
  },
);

test('it finds a verb that breaks', async () => {
  const load = vi.spyOn(VERBS['list'] ?? { load: () => Promise.reject(new Error('none')) }, 'load').mockResolvedValue({
    define: (command) => {
      command.action(() => {
        (undefined as unknown as string[]).map(String);
      });
    },
  });
  expect(await broken(['list'])).toContain('TypeError');
  load.mockRestore();
});
