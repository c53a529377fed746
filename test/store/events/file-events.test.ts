/** Changes of real files as events: gathered, without what git ignores, from one watcher of several. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { whenWatched } from '../../../client/triggers/triggers.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { CHANGES_MAX, FileEvents } from '../../../worker/triggers/file-events.ts';
import { GitIgnores } from '../../../worker/triggers/git-ignores.ts';
import { useStore } from '../harness/opened.ts';
import { spread } from '../harness/triggered.ts';

const opened = useStore();
let project: string;
let opens: FileEvents[] = [];
let triggerId = '';

const write = (path: string, text = 'x'): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'sentinel-files-')));
  execFileSync('git', ['init', '-q', project]);
});

afterEach(async () => {
  await Promise.all(opens.map((one) => one.close()));
  opens = [];
  if (triggerId !== '') await opened.store.triggers.remove(triggerId);
  rmSync(project, { recursive: true, force: true });
});

async function watchAll(events: FileEvents[], event = 'file:*'): Promise<void> {
  opens = events;
  const { trigger } = await opened.store.triggers.add({
    name: 't',
    event,
    definitionHash: 'h',
    project,
    persona: 'ada',
    inputs: {},
    taskQueue: 'q',
  });
  triggerId = trigger.id;
  // It is looked for every few seconds; the first change that is seen says that it is watched.
  await expect
    .poll(
      async () => {
        write('probe', String(Math.random()));
        await pause(400);
        return (await seen()).length;
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
  await pause(600);
  await seen();
}

const fileEvents = (): FileEvents =>
  new FileEvents({ triggers: opened.store.triggers, without: [join(project, '.sentinel')], say: () => undefined });

function ignoredByGit(path: string): boolean {
  try {
    execFileSync('git', ['-C', project, 'check-ignore', '-q', '--no-index', path]);
    return true;
  } catch {
    return false;
  }
}

const before = new Set<number>();
async function seen(): Promise<{ name: string; data: unknown }[]> {
  const { triggers } = opened.store;
  while ((await spread(opened.store)) > 0);
  const fresh = (await triggers.starts(triggerId, 1000)).filter(({ event }) => !before.has(event.seq)).toReversed();
  for (const { event } of fresh) before.add(event.seq);
  return fresh.map(({ event: { name, data } }) => ({ name, data }));
}

test('what changes is told once, what git ignores is not', { timeout: 60_000 }, async () => {
  write('.gitignore', 'dist/\n*.log\n');
  write('src/a.ts');
  await watchAll([fileEvents()]);
  for (let turn = 0; turn < 5; turn += 1) write('src/a.ts', String(turn));
  write('src/new.ts');
  write('dist/out.js');
  write('noise.log');
  write('.sentinel/services.json');
  write('.git/index');
  write('brief.txt');
  rmSync(join(project, 'brief.txt'));
  await pause(1500);
  const told = await seen();
  expect(told.filter(({ data }) => JSON.stringify(data).includes('brief')).length).not.toBe(1);
  expect(
    told
      .filter(({ data }) => !JSON.stringify(data).includes('brief'))
      .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  ).toEqual([
    { name: 'file:changed', data: { path: 'src/a.ts', absolutePath: join(project, 'src/a.ts'), kind: 'changed' } },
    { name: 'file:changed', data: { path: 'src/new.ts', absolutePath: join(project, 'src/new.ts'), kind: 'added' } },
  ]);
  write('.gitignore', 'dist/\n*.log\n*.tmp\n');
  await pause(800);
  await seen();
  write('later.tmp');
  rmSync(join(project, 'src/a.ts'));
  await pause(1200);
  expect(await seen()).toMatchObject([{ name: 'file:changed', data: { path: 'src/a.ts', kind: 'removed' } }]);
});

test('of two processes one watches, and the other takes over', { timeout: 60_000 }, async () => {
  const other = openStore({ url: opened.database.url });
  const [first, second] = [
    fileEvents(),
    new FileEvents({ triggers: other.triggers, without: [], say: () => undefined }),
  ];
  await watchAll([first, second]);
  write('one.ts');
  await pause(1200);
  expect(await seen()).toHaveLength(1);
  await first.close();
  await expect
    .poll(
      async () => {
        write('two.ts', String(Math.random()));
        await pause(500);
        return (await seen()).length;
      },
      { timeout: 15_000 },
    )
    .toBe(1);
  await second.close();
  await other.close();
});

test('what changes right after it is known to be watched is seen', { timeout: 60_000 }, async () => {
  for (let file = 0; file < 500; file += 1) write(`src/${file % 20}/${file}.ts`);
  const { triggers } = opened.store;
  opens = [fileEvents()];
  await pause(300);
  expect(await triggers.isWatched(project)).toBe(false);
  const { trigger } = await triggers.add({
    name: 't',
    event: 'file:*',
    definitionHash: 'h',
    project,
    persona: 'ada',
    inputs: {},
    taskQueue: 'q',
  });
  triggerId = trigger.id;
  const since = Date.now();
  expect(await whenWatched(opened.store, project)).toBe(true);
  // A worker hears of it and does not come upon it seconds later.
  expect(Date.now() - since).toBeLessThan(2500);
  write('src/7/7.ts', 'changed');
  await expect
    .poll(async () => (await seen()).map(({ data }) => data), { timeout: 5_000 })
    .toEqual([{ path: 'src/7/7.ts', absolutePath: join(project, 'src/7/7.ts'), kind: 'changed' }]);
  await Promise.all(opens.map((one) => one.close()));
  expect(await triggers.isWatched(project)).toBe(false);
});

test('a branch switch does not start a run for each of its files', { timeout: 60_000 }, async () => {
  await watchAll([fileEvents()]);
  for (let file = 0; file <= CHANGES_MAX; file += 1) write(`many/${file}.ts`);
  await pause(2500);
  const told = await seen();
  expect(told.length).toBeLessThan(CHANGES_MAX);
  expect(told.some(({ name }) => name === 'file:changed-many')).toBe(true);
});

describe('what git ignores', () => {
  test.each([
    'a.log',
    'keep.log',
    'src/a.log',
    'src/keep.log',
    'dist/x',
    'src/dist/x',
    'src/gen/x',
    'src/gen/keep',
    'docs/dist',
    'secret',
    '.git/HEAD',
    'a b.txt',
    'src/x.ts',
  ])('%s', (path) => {
    write('.gitignore', '*.log\n!keep.log\ndist/\n# comment\n\n/secret\n');
    write('src/.gitignore', 'gen/*\n!gen/keep\nkeep.log\n');
    write('.git/info/exclude', 'a b.txt\n');
    const asked = path.startsWith('.git/') ? true : ignoredByGit(path);
    expect(new GitIgnores(project).ignores(join(project, path), false)).toBe(asked);
    expect(new GitIgnores(join(project, 'src')).ignores(join(project, path), false)).toBe(asked);
  });
});
