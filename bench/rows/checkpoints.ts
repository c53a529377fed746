/** What the states before and after a step add to it, by how large the project is and how much the step changes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { appendFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { StepCheckpoints } from '../../operations/checkpoints/step-checkpoints.ts';
import { placeOf, ShadowGit } from '../../world/git/trees/shadow-git.ts';
import { bounded, informed, median, type Row } from '../report.ts';
import type { World } from '../world.ts';

/** Lines as a source file of two kilobytes has them. */
const text = (file: number): string => `// file ${file}\n${'export const value = 1;\n'.repeat(80)}`;

const CHANGES = [0, 1, 100] as const;

export async function checkpoints(world: World, quick: boolean): Promise<Row[]> {
  return [
    ...(await project(world, { files: 50, turns: quick ? 10 : 50 })),
    ...(await project(world, { files: quick ? 5_000 : 50_000, turns: quick ? 5 : 25 })),
  ];
}

async function timed(act: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

async function written(folder: string, files: number): Promise<void> {
  for (let at = 0; at < Math.max(100, files / 50); at += 1)
    await mkdir(join(folder, `${at % 20}`, `${at}`), { recursive: true });
  for (let at = 0; at < files; at += 1) await writeFile(join(folder, pathOf(at, files)), text(at));
}

/** Fifty in a folder, but for a small project. */
const pathOf = (file: number, files: number): string => {
  const folder = Math.floor(file % Math.max(100, files / 50));
  return join(`${folder % 20}`, `${folder}`, `${file}.ts`);
};

/** What a state cost before what was known of a project was kept: git looks at all of it. */
async function gitLooks(folder: string, home: string): Promise<number> {
  const git = await ShadowGit.open(placeOf(home, folder), folder);
  const look = (): Promise<unknown> =>
    Promise.all([
      git.run(['diff-files', '-z', '--name-status']),
      git.run(['ls-files', '-z', '--others', '--exclude-per-directory=.gitignore']),
    ]);
  await look();
  const times = [await timed(look), await timed(look), await timed(look)];
  await git.forgetIndex();
  return median(times);
}

interface Measured {
  files: number;
  turns: number;
}

async function project({ store }: World, { files, turns }: Measured): Promise<Row[]> {
  const [folder, home] = [
    await mkdtemp(join(tmpdir(), 'bench-project-')),
    await mkdtemp(join(tmpdir(), 'bench-home-')),
  ];
  try {
    await written(folder, files);
    const own = new StepCheckpoints(store.checkpoints, home);
    /** A step that its process takes no time of: both looks and both rows. */
    const stepped = (changes: number): Promise<number> => {
      const step = { handle: `bench-${randomUUID()}`, key: 'steps.0@1', project: folder };
      return timed(async () => {
        await own.begin({ ...step, what: 'shell', attempt: 1, isBackground: false });
        for (let at = 0; at < changes; at += 1) appendFileSync(join(folder, pathOf(at, files)), `${randomUUID()}\n`);
        await own.end(step);
      });
    };
    const first = await stepped(0);
    await sleep(200);
    const rows: Row[] = [];
    for (const changes of CHANGES) {
      const times: number[] = [];
      for (let turn = 0; turn < turns; turn += 1) times.push(await stepped(changes));
      rows.push(rowOf({ files, changes, times }));
    }
    const process = await timed(() => execa('/bin/true', [], { cwd: folder }));
    const known = `load ${loadavg()[0]?.toFixed(1) ?? '?'}; a process that does nothing ${process.toFixed(1)} ms`;
    rows.push(
      informed(
        `git looks at ${files} files that are as they were`,
        `${(await gitLooks(folder, home)).toFixed(1)} ms`,
        known,
      ),
      informed(`the first states of ${files} files`, `${first.toFixed(0)} ms`, 'every file is read once'),
    );
    return rows;
  } finally {
    await Promise.all([folder, home].map((path) => rm(path, { recursive: true, force: true })));
  }
}

const AT_MOST = { 0: 15, 1: 40, 100: 400 } as const;

function rowOf({ files, changes, times }: { files: number; changes: (typeof CHANGES)[number]; times: number[] }): Row {
  const name = `states of a step that changes ${changes === 0 ? 'nothing' : changes} of ${files} files`;
  const worst = Math.max(...times).toFixed(1);
  return bounded(name, {
    value: median(times),
    unit: 'ms',
    atMost: AT_MOST[changes],
    note: `both looks and both rows, p50 of ${times.length}; at most ${worst}`,
  });
}
