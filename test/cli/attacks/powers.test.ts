/**
 * Who may do what (language/rights/powers.ts), held against all there is: no verb, command or tool acts without a row,
 * docs/safety.md shows the rows, and a process of a step is refused at the command line what its rows refuse, and only that.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { VERBS } from '../../../cli/verbs.ts';
import { POWERS } from '../../../language/rights/powers.ts';
import { buildCli, type BuiltCli } from '../processes/built-cli.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const named = (door: 'verbs' | 'commands' | 'tools'): string[] => POWERS.flatMap((power) => power[door]);

describe('nothing acts without a row:', () => {
  test('verbs of the command line', async () => {
    const acting: string[] = [];
    for (const [name, { kind, load }] of Object.entries(VERBS)) {
      if (kind === 'acts') acting.push(name);
      if (kind !== 'group') continue;
      const group = new Command(name);
      await (await load()).define(group, []);
      // `webhook add` prints what to write, and writes nothing.
      const looks = new Set([
        'list',
        'show',
        'read',
        'test',
        'body',
        'keys',
        'doctor',
        ...(name === 'webhook' ? ['add'] : []),
      ]);
      acting.push(...group.commands.flatMap((one) => (looks.has(one.name()) ? [] : [`${name} ${one.name()}`])));
    }
    expect(acting.length).toBeGreaterThan(30);
    expect(acting.filter((verb) => !named('verbs').includes(verb))).toEqual([]);
    expect(named('verbs').filter((path) => !Object.hasOwn(VERBS, path.split(' ')[0] ?? ''))).toEqual([]);
  });

  test('commands that say something to runs, or in their name', () => {
    const registry = builtInRegistry();
    const acting = registry.names().filter((name) => /^(?:sentinel|collaboration)\//.test(name));
    expect(acting.filter((name) => !named('commands').includes(name))).toEqual([]);
    expect(named('commands').filter((name) => registry.find(name) === undefined)).toEqual([]);
    // Of these it is the definition that the parameter names.
    const ofDefinitions = new Set(['sentinel/run', 'sentinel/start', 'sentinel/export', 'sentinel/deploy']);
    const naming = registry.all().flatMap(({ name, params }) => {
      const text = JSON.stringify(z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' }));
      const names = ['handle', 'sentinelId'].filter((param) => text.includes(`"${param}":`));
      return names.length === 0 || ofDefinitions.has(name) ? [] : [[name, names]];
    });
    const stated = registry
      .all()
      .flatMap(({ name, runParams }) => (runParams === undefined ? [] : [[name, runParams]]));
    expect(naming.length).toBeGreaterThan(10);
    expect(stated).toEqual(naming);
  });

  test('tools of "sentinel mcp serve"', () => {
    const folder = join(ROOT, 'client', 'mcp');
    const tools = readdirSync(folder).flatMap((file) =>
      Array.from(
        readFileSync(join(folder, file), 'utf8').matchAll(/registerTool\(\s*'(\w+)'/g),
        ([, name = '']) => name,
      ),
    );
    expect(tools.length).toBeGreaterThan(8);
    expect([...new Set(named('tools'))].toSorted()).toEqual(tools.toSorted());
  });
});

test('docs/safety.md shows every row', () => {
  const page = readFileSync(join(ROOT, 'docs', 'safety.md'), 'utf8');
  const shown = page.split('\n').map((line) => line.replaceAll(/\s*\|\s*/g, '|').trim());
  const rows = POWERS.map(({ what, model, process, agent }) => `|${what}|${model}|${process}|${agent}|`);
  expect(rows.filter((row) => !shown.includes(row))).toEqual([]);
});

describe('a process of a step', () => {
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await buildCli();
  });
  afterAll(() => cli.remove());

  /** By verb: how it is typed for what is refused, and for what is not. */
  const TYPED: Readonly<Record<string, readonly [string, string?]>> = {
    answer: ['answer nightly approve', 'answer nightly reject'],
    cancel: ['cancel nightly --force', 'cancel nightly'],
    chat: ['chat general --send hello', 'chat general'],
    command: ['command data/create --param collection=todos', 'command data/list --param collection=todos'],
    inbox: ['inbox --clear', 'inbox'],
    'inbox clear': ['inbox clear nightly'],
    'mcp accept': ['mcp accept tools 0123abcd'],
    'mcp serve': ['mcp serve --allow-approve'],
    resume: ['resume nightly', 'pause nightly'],
    'saved deploy': ['saved deploy nightly /elsewhere'],
    'saved distrust': ['saved distrust 0123abcd', 'saved keys'],
    'saved export': ['saved export nightly nightly.json', 'saved list'],
    'saved import': ['saved import nightly.json', 'saved show nightly'],
    'saved trust': ['saved trust 0123abcd build-host'],
    'schedule create': ['schedule create hello --cron @daily --replace'],
    'schedule delete': ['schedule delete nightly', 'schedule list'],
    'schedule resume': ['schedule resume nightly', 'schedule pause nightly'],
    'step add': ['step add nightly steps.0', 'step list nightly'],
    'step remove': ['step remove nightly steps.0'],
    'step skip': ['step skip nightly steps.0'],
    'step update': ['step update nightly steps.0'],
    tell: ['tell nightly hello', 'transcript nightly'],
    'trigger remove': ['trigger remove nightly', 'trigger list'],
    'trigger resume': ['trigger resume nightly', 'trigger pause nightly'],
    trust: ['trust --home', 'doctor'],
    undo: ['undo nightly --force', 'undo nightly'],
    web: ['web nightly', 'list'],
  };
  const words = [
    ...['edit', 'retry', 'extend'].map((choice) => `answer nightly steps.0@1 ${choice}`),
    ...['skip', 'stop', 'abort'].map((choice) => `answer nightly ${choice}`),
  ];

  const acting = ['code/git --param operation=status', 'own/shout', 'mcp/tools/say', 'sentinel/resume', 'no/such'];

  test('is tried with every refusal there is', () => {
    const refused = POWERS.flatMap(({ refused: rows = {} }) => Object.keys(rows));
    expect(Object.keys(TYPED).toSorted()).toEqual(refused.toSorted());
  });

  test.each([
    ...Object.values(TYPED).map(([typed]) => typed),
    ...words.slice(0, 3),
    ...acting.map((name) => `command ${name}`),
  ])('is refused: %s', async (typed) => {
    const { code, stderr } = await cli.run(typed.split(' '), { within: true });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^sentinel: A run does not /) as string,
    });
    expect(existsSync(join(cli.folder, 'home'))).toBe(false);
  });

  test.each([...Object.values(TYPED).flatMap(([, typed]) => (typed === undefined ? [] : [typed])), ...words.slice(3)])(
    'is heard: %s',
    async (typed) => {
      const { stderr } = await cli.run(typed.split(' '), { within: true });
      expect(stderr).not.toContain('A run does not');
    },
  );

  test.each(['answer nightly approve', 'resume nightly', 'trust --home', 'chat general --send hello'])(
    'and a person is heard: %s',
    async (typed) => {
      const { stderr } = await cli.run(typed.split(' '));
      expect(stderr).not.toContain('A run does not');
    },
  );
});
