/** Every path, script and test project that the documents name is there. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { files, read, root } from './tree.ts';

const documents = ['ARCHITECTURE.md', 'AGENTS.md', 'README.md'];

/** Made by a build or a run, so not in the tree. */
const generated = ['dist/', '.sentinel/'];

const spansOf = (document: string): string[] =>
  Array.from(read(document).matchAll(/`([^`\n]+)`/g), ([, span = '']) => span);

const linksOf = (document: string): string[] =>
  Array.from(read(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g), ([, link = '']) => link).filter(
    (link) => !link.includes(':'),
  );

function isPath(span: string): boolean {
  if (!/^\.?[\w-][\w./-]*$/.test(span) || generated.some((folder) => span.startsWith(folder))) return false;
  const first = span.split('/')[0] ?? '';
  return (
    /[\w-]\.(?:ts|mjs|json|md|prisma|sql|ya?ml)$/.test(span) ||
    (span.includes('/') && (span.endsWith('/') || existsSync(join(root, first))))
  );
}

const isThere = (path: string): boolean =>
  path.includes('/') ? existsSync(join(root, path)) : files.some((file) => basename(file) === path);

describe.each(documents)('%s', (document) => {
  test('exists', () => {
    expect(existsSync(join(root, document))).toBe(true);
  });

  test('names paths that exist', () => {
    const named = [...spansOf(document).filter(isPath), ...linksOf(document)];
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  test('names scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const text = read(document);
    const named = [
      ...Array.from(text.matchAll(/npm run ([\w:-]+)/g), ([, name = '']) => name),
      ...(/npm test/.test(text) ? ['test'] : []),
    ];
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test('names test projects that exist', () => {
    const config = read('vitest.config.ts');
    const named = Array.from(read(document).matchAll(/--project ([\w-]+)/g), ([, name = '']) => name);
    expect(named.filter((name) => !config.includes(`project('${name}'`))).toEqual([]);
  });
});

test('AGENTS.md and ARCHITECTURE.md name enough for this to mean something', () => {
  expect(spansOf('ARCHITECTURE.md').filter(isPath).length).toBeGreaterThan(10);
  expect(spansOf('AGENTS.md').filter(isPath).length).toBeGreaterThan(5);
});

test('CI runs the test command of the README and the soak, and both together run every test project', () => {
  expect(read('README.md')).toMatch(/^npm test$/m);
  const ran = Array.from(read('.ci/run').matchAll(/^npm (?:run )?([\w-]+)/gm), ([, name = '']) => name);
  expect(ran).toEqual(['test', 'soak']);
  const projects = Array.from(read('vitest.config.ts').matchAll(/project\('([\w-]+)'/g), ([, name = '']) => name);
  const checked = /^const projects = ([^;]+);/m.exec(read('scripts/check.mjs'))?.[1] ?? '';
  expect(Array.from(checked.matchAll(/'([\w-]+)'/g), ([, name = '']) => name).toSorted()).toEqual(projects.toSorted());
});
