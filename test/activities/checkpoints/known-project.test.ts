/** A state from what is known is the state that git finds, whatever happened since; and where it cannot be, git looks. */
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ProjectTrees } from '../../../operations/checkpoints/project-trees.ts';
import { ProjectWatch } from '../../../operations/checkpoints/project-watch.ts';
import { CHECKPOINT_BOUNDS } from '../../../world/git/trees/bounds.ts';
import { randomRuns } from '../../random-runs.ts';
import { temporaryFolder } from '../harness/step-context.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';

interface Known extends WrittenProject {
  opened: ProjectTrees;
  at: (path: string) => string;
  /**
   * That a look from what is known, and one of git, find the same; how the first was made. Git begins with nothing: by
   * the times in an index it takes what is as long as before, and changed within the second, for unchanged. Begun with an
   * index, it goes on with what is ignored by now.
   */
  agree: (from?: 'nothing' | 'index') => Promise<'known' | 'git'>;
}

const FILES = {
  'a.txt': 'a',
  'b.txt': 'b',
  'src/c.ts': 'c',
  'src/deep/d.ts': 'd',
  'src.d/e': 'e',
  'run.sh': '#!/bin/sh',
  '.gitignore': 'ignored\n*.log\nbuild/\n',
  ignored: 'x',
  'build/out.js': 'x',
};

/** So many that changes are told by the system. */
const MANY = Object.fromEntries(
  Array.from({ length: CHECKPOINT_BOUNDS.watchedFilesMin }, (_, at) => [`many${at % 7}/${at}`, String(at)]),
);

const opens: ProjectTrees[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const trees of opens.splice(0)) trees.close();
});

async function openKnown(files: Readonly<Record<string, string | Buffer>> = FILES): Promise<Known> {
  const project = await writtenProject(files);
  // Old enough for their times to say something.
  await sleep(150);
  const opened = await project.trees();
  opens.push(opened);
  await opened.take();
  await opened.take();
  expect(opened.looks).toEqual({ byGit: 1, fromKnown: 1, told: 0 });
  return {
    ...project,
    opened,
    at: (path) => join(project.project, path),
    async agree(from = 'nothing') {
      const before = { ...opened.looks };
      const known = await opened.take();
      const other = await project.trees();
      if (from === 'nothing') await other.git.forgetIndex();
      const byGit = await other.take();
      expect(known.large).toEqual(byGit.large);
      expect(known.tree).toBe(byGit.tree);
      return opened.looks.byGit > before.byGit ? 'git' : 'known';
    },
  };
}

const CASES: Readonly<Record<string, (known: Known) => unknown>> = {
  nothing: () => undefined,
  'a file that comes, changes and goes': ({ write, at }) => {
    write({ 'new.txt': 'n', 'a.txt': 'another' });
    rmSync(at('b.txt'));
  },
  'as long, in the same moment': ({ write }) => write({ 'a.txt': 'z' }),
  'as long, with the times of before': ({ write, at }) => {
    const { atime, mtime } = lstatSync(at('a.txt'));
    write({ 'a.txt': 'y' });
    utimesSync(at('a.txt'), atime, mtime);
  },
  'another file in its place': ({ write, at }) => {
    write({ 'b.new': 'q' });
    renameSync(at('b.new'), at('b.txt'));
  },
  'a name that changes': ({ at }) => renameSync(at('src/c.ts'), at('src/z.ts')),
  'a mode that changes': ({ at }) => chmodSync(at('run.sh'), 0o755),
  'a link that comes, leads elsewhere and takes the place of a file': ({ at }) => {
    symlinkSync('a.txt', at('link'));
    symlinkSync('nowhere', at('src/link'));
    unlinkSync(at('b.txt'));
    symlinkSync('/etc/passwd', at('b.txt'));
  },
  'folders in folders': ({ write }) => write({ 'new/deep/er/n.txt': 'n', 'new/x.log': 'x', 'new/build/y': 'y' }),
  'a folder without files': ({ at }) => mkdirSync(at('empty/er'), { recursive: true }),
  'a folder that is moved': ({ at }) => renameSync(at('src'), at('moved')),
  'a folder that is moved in': async ({ at }) => {
    const outside = await temporaryFolder();
    mkdirSync(join(outside, 'in/side'), { recursive: true });
    writeFileSync(join(outside, 'in/side/f'), 'f');
    renameSync(join(outside, 'in'), at('in'));
  },
  'a folder that goes': ({ at }) => rmSync(at('src'), { recursive: true }),
  'a folder in the place of a file, and the other way round': ({ write, at }) => {
    rmSync(at('a.txt'));
    rmSync(at('src'), { recursive: true });
    write({ 'a.txt/x': 'x', src: 's' });
  },
  'a link in the place of a folder': async ({ at }) => {
    const outside = await temporaryFolder();
    writeFileSync(join(outside, 'c.ts'), 'c');
    rmSync(at('src'), { recursive: true });
    symlinkSync(outside, at('src'));
  },
  'names that git sorts in its own way': ({ write }) =>
    write({
      'src.': '.',
      ':a.txt': ':',
      'a*.log': 'x',
      './(x) y': 'p',
      'src-': '-',
      src0: '0',
      'srcé/ü': 'u',
      '\u{1F600}': 'e',
      '\uFF5E': 't',
    }),
  'what is ignored': ({ write }) => write({ 'x.log': 'x', 'src/y.log': 'y', 'build/z': 'z', ignored: 'w' }),
  'what no state holds': ({ write }) =>
    write({ 'node_modules/m/i.js': 'm', '.sentinel/x': 'x', 'src/.SENTINEL/x': 'x', '.sentinel.foreign-1': 'f' }),
  'a name that is not UTF-8': ({ project }) => writeFileSync(Buffer.from(`${project}/no\xff`, 'latin1'), 'x'),
  'another name of a file': ({ at }) => linkSync(at('a.txt'), at('hard')),
  'a pipe, and one in the place of a file': ({ at }) => {
    execFileSync('mkfifo', [at('pipe')]);
    rmSync(at('b.txt'));
    execFileSync('mkfifo', [at('b.txt')]);
  },
  'a file that is too large, and one that grows': ({ write }) =>
    write({ large: Buffer.alloc(CHECKPOINT_BOUNDS.fileBytesMax + 1), 'a.txt': Buffer.alloc(3_000_000) }),
  'a repository that begins in a folder, and ends': ({ git, write, at }) => {
    git('init', '-q', 'src');
    git('init', '-q', 'src.d');
    write({ 'src/ignored': 'i', 'src/n': 'n', 'src.d/n': 'n' });
    rmSync(at('src.d/.git'), { recursive: true });
  },
  'a hundred files': ({ write }) =>
    write(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`many/${at}`, String(at)]))),
  'a commit, a branch, and what is staged': ({ git }) => {
    git('init', '-q');
    git('add', 'a.txt');
    git('commit', '-qm', 'first');
    git('branch', 'other');
  },
};

describe.each([
  ['each file is looked at', {}],
  ['changes are told', MANY],
])('%s', (_, more) => {
  test.each(Object.keys(CASES))('it is found without git: %s', async (name) => {
    const known = await openKnown({ ...FILES, ...more });
    const from = name.includes('repository') ? 'index' : 'nothing';
    await CASES[name]?.(known);
    expect(await known.agree(from)).toBe('known');
    // Within a moment, and after it.
    expect(await known.agree(from)).toBe('known');
    await sleep(150);
    known.write({ late: 'l', 'src.d/last': 'l' });
    expect(await known.agree(from)).toBe('known');
    expect(known.opened.looks.told).toBe(more === MANY ? 3 : 0);
  });

  test('any order of changes', async () => {
    const known = await openKnown({ ...FILES, ...more });
    const names = Object.keys(CASES).filter((name) => !/pipe|commit|repository/.test(name));
    let seed = 7;
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let turn = 0; turn < randomRuns(200, 15).numRuns; turn += 1) {
      const name = names[next(names.length)] ?? '';
      try {
        await CASES[name]?.(known);
      } catch {
        // What it takes away is gone, or what it makes is there.
      }
      if (next(3) === 0) await sleep(next(200));
      await known.agree();
    }
  }, 300_000);
});

const BY_GIT: Readonly<Record<string, (known: Known) => unknown>> = {
  'rules that change': ({ write }) => write({ '.gitignore': '!ignored\nsrc/deep\n' }),
  'rules that come': ({ write }) => write({ 'src/.gitignore': '*.ts\n', 'src/new.ts': 'n' }),
  'rules that go': ({ at }) => rmSync(at('.gitignore')),
  'a repository that comes with its folder': ({ git, write }) => {
    git('init', '-q', 'inner');
    write({ 'inner/ignored': 'it is not, there', 'inner/.gitignore': 'own\n', 'inner/own': 'o' });
  },
  'a repository without a work tree': ({ git }) => void git('init', '-q', '--bare', 'src/bare'),
  'more than is worth it': ({ write }) =>
    write(Object.fromEntries(Array.from({ length: CHECKPOINT_BOUNDS.unlikeMax + 1 }, (_, at) => [`m/${at}`, 'm']))),
};

test.each(Object.keys(BY_GIT))('git looks: %s', async (name) => {
  const known = await openKnown();
  await BY_GIT[name]?.(known);
  expect(await known.agree('index')).toBe('git');
  known.write({ 'a.txt': 'after it', 'src/after': 'x' });
  await known.agree('index');
});

test('rules that no state holds are rules', async () => {
  const known = await openKnown({ 'a.txt': 'a', 'cache/.gitignore': '*\n', 'cache/x': 'x' });
  known.write({ 'cache/y': 'y' });
  expect(await known.agree()).toBe('known');
  known.write({ 'cache/.gitignore': '.gitignore\n' });
  expect(await known.agree()).toBe('git');
});

test('a repository that is in the project from the beginning', async () => {
  const project = await writtenProject({ ...FILES, 'inner/.gitignore': 'own\n', 'inner/x': 'x', 'inner/own': 'o' });
  project.git('init', '-q', 'inner');
  await sleep(150);
  const opened = await project.trees();
  await opened.take();
  await opened.take();
  project.write({ 'inner/own': '2', 'inner/ignored': 'i', 'inner/more/own': 'o', 'inner/more/y': 'y', 'inner/x': '2' });
  expect((await opened.take()).tree).toBe((await (await project.trees()).take()).tree);
  expect(opened.looks).toMatchObject({ byGit: 1, fromKnown: 2 });
});

test('what was found without git stays found when git looks, also what has been ignored since', async () => {
  const known = await openKnown();
  known.write({ 'kept.txt': 'k', 'src/x': 'x' });
  rmSync(known.at('b.txt'));
  rmSync(known.at('src/deep'), { recursive: true });
  known.write({ 'src/deep': 'a file now' });
  await known.opened.take();
  known.write({ '.gitignore': 'kept.txt\n' });
  const { tree } = await known.opened.take();
  expect(known.opened.looks.byGit).toBe(2);
  const listed = await known.opened.git.text(['ls-tree', '-r', '--name-only', tree]);
  expect(listed.split('\n').filter((name) => !name.startsWith('.sentinel'))).toEqual(
    ['.gitignore', 'a.txt', 'build/out.js', 'ignored', 'kept.txt', 'run.sh', 'src.d/e', 'src/c.ts', 'src/deep', 'src/x']
      .toSorted()
      .concat(''),
  );
});

test('it begins from what git has seen, also of files that changed in the moment in which its index was written', async () => {
  const project = await writtenProject({ 'a.txt': 'a' });
  const opened = await project.trees();
  await opened.take();
  project.write({ 'a.txt': 'b' });
  const second = await opened.take();
  project.write({ 'a.txt': 'c' });
  const third = await opened.take();
  expect(opened.looks).toMatchObject({ byGit: 1, fromKnown: 2 });
  expect(new Set([second.tree, third.tree]).size).toBe(2);
  expect(third.tree).toBe((await (await project.trees()).take()).tree);
});

test('a folder that another takes the place of, or that is made again', async () => {
  const known = await openKnown({ ...FILES, ...MANY, 'x/a/f': 'xa', 'y/a/f': 'ya', 'z/f': 'z' });
  renameSync(known.at('x'), known.at('x2'));
  renameSync(known.at('y'), known.at('x'));
  rmSync(known.at('z'), { recursive: true });
  known.write({ 'z/g': 'g' });
  expect(await known.agree()).toBe('known');
  known.write({ 'x/a/f': 'told of the one that is there', 'x2/a/f': 'and of the other', 'z/h': 'h' });
  expect(await known.agree()).toBe('known');
  renameSync(known.at('x2'), known.at('z/in'));
  known.write({ 'z/in/a/f': '3', 'z/in/b': '4' });
  expect(await known.agree()).toBe('known');
  expect(known.opened.looks).toEqual({ byGit: 1, fromKnown: 4, told: 3 });
});

test('another folder in the place of the project', async () => {
  const known = await openKnown({ ...FILES, ...MANY });
  renameSync(known.project, `${known.project}-before`);
  mkdirSync(known.project);
  known.write({ 'a.txt': 'b', 'new/x': 'x' });
  await known.agree();
  known.write({ 'a.txt': 'c', 'new/x': 'y' });
  await known.agree();
});

test('more happens than the queue of the system holds', async () => {
  const known = await openKnown({ ...FILES, ...MANY });
  const held = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  // One of each file in turn: what is the same is told once.
  for (let at = 0; at <= held; at += 1) chmodSync(known.at(at % 2 === 0 ? 'a.txt' : 'b.txt'), 0o600);
  known.write({ 'src/deep/d.ts': 'after it ran over', 'src/deep/n': 'n' });
  expect(await known.agree()).toBe('known');
  expect(known.opened.looks.told).toBe(0);
  known.write({ 'src/deep/d.ts': 'told again' });
  expect(await known.agree()).toBe('known');
  expect(known.opened.looks.told).toBe(1);
});

test('a project that cannot be watched is looked at', async () => {
  const others = [];
  try {
    while (others.length <= CHECKPOINT_BOUNDS.watchesMax) {
      const watch = ProjectWatch.open(await temporaryFolder());
      if (watch === null) break;
      others.push(watch);
    }
    const known = await openKnown({ ...FILES, ...MANY });
    known.write({ 'many1/1': 'changed' });
    expect(await known.agree()).toBe('known');
    expect(known.opened.looks.told).toBe(0);
  } finally {
    for (const watch of others) watch.close();
  }
});

test('a file with a name elsewhere is looked at each time', async () => {
  const outside = join(await temporaryFolder(), 'elsewhere');
  const project = await writtenProject({ ...FILES, ...MANY });
  linkSync(join(project.project, 'a.txt'), outside);
  await sleep(150);
  const opened = await project.trees();
  opens.push(opened);
  await opened.take();
  const before = await opened.take();
  writeFileSync(outside, 'no word of it');
  const after = await opened.take();
  expect(after.tree).not.toBe(before.tree);
  expect(opened.looks.told).toBe(1);
});

test('what changed without a word is found by the check, said, and nobody relies on words any more', async () => {
  const known = await openKnown({ ...FILES, ...MANY });
  const outside = join(await temporaryFolder(), 'elsewhere');
  linkSync(known.at('src/c.ts'), outside);
  const before = await known.opened.take();
  writeFileSync(outside, 'hidden');
  known.write({ 'b.txt': 'told' });
  const unseen = await known.opened.take();
  expect(unseen.tree).not.toBe(before.tree);
  expect(known.opened.hidden).toEqual([]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + CHECKPOINT_BOUNDS.checkMs });
  known.write({ 'many1/1': 'told, too' });
  expect(await known.agree()).toBe('known');
  expect(known.opened.hidden).toEqual(['src/c.ts']);
  const { told } = known.opened.looks;
  writeFileSync(outside, 'hidden again');
  expect(await known.agree()).toBe('known');
  expect(known.opened.looks.told).toBe(told);
});
