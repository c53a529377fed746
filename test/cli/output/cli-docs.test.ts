/** docs/cli.md names every verb, every exit code, every code of an error and every setting; some page names each option. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../cli/output/exit-codes.ts';
import { VERBS } from '../../../cli/verbs.ts';
import { files, read } from '../../project/tree.ts';

const page = read('docs/cli.md');

/** The text below a heading of the second level. */
const below = (heading: string): string => {
  const [, text = ''] = new RegExp(`^## ${heading}\\n([^]*?)(?=^## |(?![^]))`, 'm').exec(page) ?? [];
  expect(text, heading).not.toBe('');
  return text;
};

/** What stands in code in the first column of the tables of a text. */
const firstColumn = (text: string): string[] =>
  Array.from(text.matchAll(/^\| (`.*?) \| /gm), ([, cell = '']) => cell).flatMap((cell) =>
    Array.from(cell.matchAll(/`([^`]+)`/g), ([, span = '']) => span.replaceAll('\\|', '|')),
  );

const verbs = await Promise.all(
  Object.entries(VERBS).map(async ([name, { load }]) => {
    const command = new Command(name);
    await (await load()).define(command, []);
    return command;
  }),
);

describe('docs/cli.md', () => {
  const listed = firstColumn(below('Verbs'));

  it.each(verbs.map((verb) => [verb.name(), verb] as const))('lists %s, with its own verbs', (name, verb) => {
    const rows = listed.filter((row) => row.split(/[ `]/)[0] === name);
    expect(rows).not.toEqual([]);
    const named = new Set(rows.flatMap((row) => row.split(/[ |]/)));
    expect(verb.commands.map((inner) => inner.name()).filter((inner) => !named.has(inner))).toEqual([]);
  });

  it('lists no verb that is not there', () => {
    const names = new Set(Object.keys(VERBS));
    expect(listed.map((row) => row.split(' ')[0] ?? '').filter((name) => !names.has(name))).toEqual([]);
  });

  it('says what each verb prints as JSON, of a group that of each of its verbs', () => {
    const documented = new Set(
      Array.from(below('JSON documents').matchAll(/^\| (`.*?) \| /gm), ([, cell = '']) => cell).flatMap((cell) => {
        const spans = Array.from(cell.matchAll(/`([^`]+)`/g), ([, span = '']) => span);
        const [group = ''] = (spans[0] ?? '').split(' ');
        return spans.flatMap((span) => [span, `${group} ${span}`]);
      }),
    );
    const names = verbs.flatMap((verb) =>
      verb.commands.length > 0 ? verb.commands.map((one) => `${verb.name()} ${one.name()}`) : [verb.name()],
    );
    expect(names.length).toBeGreaterThan(70);
    expect(names.filter((name) => !documented.has(name))).toEqual([]);
  });

  it('has a row for each exit code', () => {
    const rows = Array.from(below('Exit codes').matchAll(/^\| (\d+) \| [^`]/gm), ([, code]) => Number(code));
    expect(rows).toEqual(Object.values(EXIT));
  });

  it('names every code of an error, under the exit code that it has', () => {
    const source = read('cli/output/exit-codes.ts');
    const named: Record<string, string[]> = {};
    for (const [, codes = '', exit = ''] of source.matchAll(/((?: +case '[A-Z_]+':\n)+) +return EXIT\.(\w+);/g)) {
      named[String(EXIT[exit as keyof typeof EXIT])] = Array.from(
        codes.matchAll(/'([A-Z_]+)'/g),
        ([, code = '']) => code,
      );
    }
    const rows = Array.from(
      below('Exit codes').matchAll(/^\| (\d+) \| (`[A-Z_]+`.*) \|$/gm),
      ([, exit = '', cell = '']) => [
        exit,
        Array.from(cell.matchAll(/`([A-Z_]+)`/g), ([, code = '']) => code).toSorted(),
      ],
    );
    expect(Object.keys(named)).toHaveLength(3);
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(Object.entries(named).map(([exit, codes]) => [exit, codes.toSorted()])),
    );
  });

  it('names every setting that the environment may have', () => {
    const sources = ['services/config/config.ts', 'services/config/worker-settings.ts']
      .map((path) => read(path))
      .join('');
    const settings = Array.from(
      sources.matchAll(/^ {2}([A-Z][A-Z_]+): ?(?:z\b|port|flag|file|$)/gm),
      ([, name = '']) => name,
    );
    expect(settings.length).toBeGreaterThan(25);
    const rows = new Set(firstColumn(below('Environment variables')));
    rows.add('XDG_CACHE_HOME');
    expect(settings.filter((name) => !rows.has(name))).toEqual([]);
  });
});

describe('every option', () => {
  const pages = files
    .filter((path) => /^docs\/[\w-]+(?:\/[\w-]+)?\.md$/.test(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const options = verbs
    .flatMap((verb) => [verb, ...verb.commands])
    .flatMap((command) =>
      command.options.filter(({ hidden }) => !hidden).map(({ long }) => [command.name(), long ?? ''] as const),
    );

  it('is in a page of docs', () => {
    expect(options.length).toBeGreaterThan(80);
    expect(options.filter(([, long]) => !pages.includes(long)).map((names) => names.join(' '))).toEqual([]);
  });
});
