/** Every path, script and test project that documents and comments name is there. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { files, isSource, read, root } from './tree.ts';

const documents = [
  'ARCHITECTURE.md',
  'AGENTS.md',
  'README.md',
  'docs/internal/map.md',
  'workflows/replay-order/README.md',
];

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

const isThere = (path: string, document: string): boolean =>
  path.includes('/')
    ? existsSync(join(root, path)) || existsSync(join(root, dirname(document), path))
    : files.some((file) => basename(file) === path);

describe.each(documents)('%s', (document) => {
  test('exists', () => {
    expect(existsSync(join(root, document))).toBe(true);
  });

  test('names paths that exist', () => {
    const named = [...spansOf(document).filter(isPath), ...linksOf(document)];
    expect(named.filter((path) => !isThere(path, document))).toEqual([]);
  });

  test('names scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    // A definition in a document calls the scripts of its reader's project.
    const text = read(document).replaceAll(/^```json\n[\s\S]*?^```$/gm, '');
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

test('CI runs the test command of the README and the other stages, and all together run every test project', () => {
  expect(read('README.md')).toMatch(/^npm test$/m);
  const stages = JSON.parse(read('scripts/checking/stages.json')) as { [stage: string]: { projects: string[] } };
  const ran = Array.from(read('.ci/run').matchAll(/^npm (?:run )?([\w-]+)/gm), ([, name = '']) => name);
  expect(ran).toEqual(Object.keys(stages));
  const projects = Array.from(read('vitest.config.ts').matchAll(/project\('([\w-]+)'/g), ([, name = '']) => name);
  const checked = Object.values(stages).flatMap((stage) => stage.projects);
  expect(checked.toSorted()).toEqual(projects.toSorted());
});

const testsIn = (row: string): string[] => Array.from(row.matchAll(/`(test\/[^`]+)`/g), ([, path = '']) => path);

test('each promise of docs/safety.md names a test that is there, and "npm run attack" tries one of them', () => {
  const [, promises = ''] = read('docs/safety.md').split('## Promises and their tests');
  const [, list = ''] = /^const subjects = \[([^\]]+)\]/m.exec(read('scripts/attack.mjs')) ?? [];
  const subjects = Array.from(list.matchAll(/'([^']+)'/g), ([, subject = '']) => subject);
  const rows = promises.split('\n').filter((line) => /^\| (?!promise |-)/.test(line));
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.flatMap(testsIn).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const untried = rows.filter(
    (row) => !testsIn(row).some((path) => subjects.some((subject) => path.includes(subject))),
  );
  expect(untried).toEqual([]);
});

/** Our folders, so that a path of the project can be told from one of a user's project. */
const folders =
  'language|interpreter|workflows|world|operations|systems|activities|prisma|services|runs|worker|client|authoring|cli|test|bench|scripts|docs';
const pathOfOurs = new RegExp(`(?<![\\w./'"-])(?:${folders})/[\\w./-]+\\.(?:ts|mjs|md|json|sql|prisma)\\b`, 'g');

describe('a path of the project', () => {
  test('that a page of docs names is there', () => {
    const pages = files.filter((path) => path.startsWith('docs/') && path.endsWith('.md'));
    const named = pages.flatMap((page) =>
      Array.from(read(page).matchAll(pathOfOurs), ([path]) => ({ page, path })).filter(
        ({ path }) => !existsSync(join(root, path)) && !existsSync(join(root, dirname(page), path)),
      ),
    );
    expect(named).toEqual([]);
  });

  test('that a page of docs links to is there', () => {
    const pages = files.filter((path) => path.startsWith('docs/') && path.endsWith('.md'));
    const dead = pages.flatMap((page) =>
      linksOf(page)
        .filter((link) => !existsSync(join(root, dirname(page), link)))
        .map((link) => `${page} links to ${link}`),
    );
    expect(dead).toEqual([]);
  });

  test('that a page links to has the heading that the link names', () => {
    const pages = [...documents, ...files.filter((path) => path.startsWith('docs/') && path.endsWith('.md'))];
    const dead = pages.flatMap((page) =>
      Array.from(read(page).matchAll(/\]\(([\w./-]*)#([^)\s]+)\)/g), ([, link = '', heading = '']) => {
        const target = link === '' ? page : join(dirname(page), link);
        return existsSync(join(root, target)) && headingsOf(target).has(heading) ? [] : [`${page}: ${link}#${heading}`];
      }).flat(),
    );
    expect(dead).toEqual([]);
  });

  test('that a comment names is there, and so is a file named by its name alone', () => {
    const names = new Set(files.map((path) => basename(path)));
    const missing = files.filter(isSource).flatMap((source) =>
      commentsOf(source).flatMap((comment) => {
        const paths = Array.from(comment.matchAll(pathOfOurs), ([path]) => path);
        const bare = Array.from(comment.matchAll(/\(([\w-]+\.(?:ts|mjs))\)/g), ([, name = '']) => name);
        return [
          ...paths.filter((path) => !existsSync(join(root, path))),
          ...bare.filter((name) => !names.has(name)),
        ].map((path) => `${source} names ${path}`);
      }),
    );
    expect(missing).toEqual([]);
  });
});

/** As GitHub writes headings in addresses; one that stands there again is counted. */
function headingsOf(page: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of read(page).matchAll(/^#+ (.*)$/gm)) {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\s-]/gu, '')
      .replaceAll(' ', '-');
    let again = 0;
    while (found.has(again === 0 ? name : `${name}-${again}`)) again += 1;
    found.add(again === 0 ? name : `${name}-${again}`);
  }
  return found;
}

const commentsOf = (source: string): string[] =>
  Array.from(read(source).matchAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm), ([comment]) => comment);

test('TypeScript that users are told to run has a name that is an ES module in every project', () => {
  const pages = files.filter((path) => /^(?:README\.md$|docs\/|examples\/)/.test(path) && /\.(?:md|ts)$/.test(path));
  const told = pages.flatMap((path) =>
    Array.from(read(path).matchAll(/\b(?:node|tsx) [\w./-]+\.m?ts\b/g), ([command]) => command),
  );
  expect(told).toContain('tsx steer-a-run.mts');
  expect(told.filter((command) => !command.endsWith('.mts'))).toEqual([]);
});
