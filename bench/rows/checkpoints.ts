/** What the states before and after a shell step add to it, on a small and a large project. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { execa } from 'execa';
import { StepCheckpoints } from '../../operations/checkpoints/step-checkpoints.ts';
import { bounded, informed, percentile, type Row } from '../report.ts';
import type { World } from '../world.ts';

/** Lines as a source file of two kilobytes has them. */
const text = (file: number): string => `// file ${file}\n${'export const value = 1;\n'.repeat(80)}`;

export async function checkpoints(world: World, quick: boolean): Promise<Row[]> {
  return [
    ...(await project(world, { files: 300, turns: quick ? 10 : 50, atMost: 60 })),
    ...(await project(world, { files: 10_000, turns: quick ? 5 : 25, atMost: 250 })),
  ];
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

async function project(
  { store }: World,
  { files, turns, atMost }: { files: number; turns: number; atMost: number },
): Promise<Row[]> {
  const [folder, home] = [
    await mkdtemp(join(tmpdir(), 'bench-project-')),
    await mkdtemp(join(tmpdir(), 'bench-home-')),
  ];
  try {
    for (let at = 0; at < files; at += 1) {
      const below = join(folder, String(at % 100));
      if (at < 100) await mkdir(below, { recursive: true });
      await writeFile(join(below, `${at}.ts`), text(at));
    }
    const own = new StepCheckpoints(store.checkpoints, home);
    const shell = (): Promise<unknown> => execa('/bin/sh', ['-c', 'echo $RANDOM >> 0/0.ts'], { cwd: folder });
    const between = (): Promise<number> =>
      timed(async () => {
        const step = { handle: `bench-${randomUUID()}`, key: 'steps.0@1', project: folder };
        await own.begin({ ...step, what: 'shell', attempt: 1, isBackground: false });
        await shell();
        await own.end(step);
      });
    const first = await between();
    const times = { without: [] as number[], with: [] as number[] };
    for (let turn = 0; turn < turns; turn += 1) {
      times.without.push(await timed(shell));
      times.with.push(await between());
    }
    const [without, beside] = [percentile(times.without, 0.5), percentile(times.with, 0.5)];
    const name = `a process that writes a file, of ${files} files`;
    return [
      bounded(`${name}: states add`, {
        value: beside - without,
        unit: 'ms',
        atMost,
        note: `p50 ${beside.toFixed(1)} ms against ${without.toFixed(1)} ms without, over ${turns}`,
      }),
      informed(`${name}: the first time`, `${first.toFixed(0)} ms`, 'every file is read once'),
    ];
  } finally {
    await Promise.all([folder, home].map((path) => rm(path, { recursive: true, force: true })));
  }
}
