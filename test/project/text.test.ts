/** What no file may hold: unfinished work, code put aside, the paths of one machine. */
import { describe, expect, test } from 'vitest';
import { files, isSource, read } from './tree.ts';

const readable = files.filter((path) =>
  /\.(?:ts|mjs|js|md|json|sql|prisma|ya?ml|toml)$|(?:^|\/)(?:Dockerfile|sentinel|run|\.\w+)$/.test(path),
);
const written = readable.filter((path) => path !== 'package-lock.json');

/** Places, as `path:line`, where a line of a text matches. */
function places(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}

describe('no file', () => {
  const here = 'test/project/text.test.ts';
  const others = written.filter((path) => path !== here);

  test('has a mark of unfinished work', () => {
    // What counts or refuses such marks has to name them.
    const counting =
      /^(?:sentinels\/examples\/nightly-todos\.|test\/server\/cli\/jobs\.test\.ts$|systems\/integrate\/settings\.ts$)/;
    const working = others.filter((path) => !counting.test(path));
    expect(places(working, /\b(?:TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  test('has code in a comment', () => {
    const code =
      /^\s*\/\/\s*(?:(?:const|let|var)\s+[\w{[]|import\s.*from\s|export\s+(?:const|function|type)|return\b.*;$|(?:if|for|while)\s*\(.*\{$|await\s.*;$|\}\s*$|[\w.]+\(.*\);$)/;
    expect(places(others.filter(isSource), code)).toEqual([]);
  });

  test('names a place of one machine', () => {
    expect(
      places(others, /(?:^|[\s"'`(=:])(?:\/work\/|\/root\/|\/home\/[a-z]|\/Users\/[A-Za-z]|[A-Z]:\\\\?Users)/),
    ).toEqual([]);
  });

  test('switches a type check off, or a rule without naming it and saying why', () => {
    const off =
      /@ts-(?:ignore|nocheck)|@ts-expect-error(?! \w)|eslint-disable|oxlint-disable(?!-next-line [\w/-]+ -- \w)/;
    const sources = others.filter(isSource);
    expect(places(sources, off)).toEqual([]);
    // In a test it holds that the compiler refuses the line.
    const ours = sources.filter((path) => !path.startsWith('test/'));
    expect(places(ours, /@ts-expect-error/)).toEqual([]);
  });

  test('leaves a field out by hand that is undefined', () => {
    // Services import nothing of the language; an example is read by who has the package alone.
    const ours = others.filter((path) => isSource(path) && !/^(?:services|examples|scripts)\//.test(path));
    expect(places(ours, /\.\.\.\(([\w.?]+) === undefined \? \{\} : \{ (?:\w+: )?\1 \}\)/)).toEqual([]);
  });

  test('names the host of a package registry', () => {
    expect(
      places(
        readable.filter((path) => path !== here),
        /https?:\/\/[^\s"']*(?:registry|npmjs|pypi|artifactory|nexus)[^\s"']*/,
      ),
    ).toEqual([]);
  });
});

test('the lock file names no host', () => {
  expect(read('package-lock.json')).not.toMatch(/"resolved":\s*"https?:/);
});
