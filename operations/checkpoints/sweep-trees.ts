/**
 * Takes away states that nobody took for 30 days, in every project of a home, once a day.
 *
 * A reference keeps a state for git, and its time says when the state was last taken. What an index holds is
 * kept as well: the next state is made from it without a look at the objects. One that is behind holds what is gone;
 * the rest of it is in the newest state.
 */
import { existsSync } from 'node:fs';
import { copyFile, readdir, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHECKPOINT_DAYS } from '../../prisma/store/contract/checkpoint-contract.ts';
import { keepTree } from './project-trees.ts';
import { behindMark, ShadowGit } from '../../world/git/trees/shadow-git.ts';

const dayMs = 86_400_000;

export async function sweepTrees(home: string, now = Date.now()): Promise<void> {
  const folder = join(home, 'checkpoints');
  const places = await readdir(folder).catch(() => []);
  for (const name of places) await sweepPlace(join(folder, name), now).catch(() => undefined);
}

async function sweepPlace(place: string, now: number): Promise<void> {
  const swept = join(place, 'swept');
  if (!existsSync(join(place, 'objects')) || now - (await timeOf(swept)) < dayMs) return;
  await writeFile(swept, '');
  await utimes(swept, now / 1000, now / 1000);
  await forgetOldIndexes(place, now);
  const git = ShadowGit.reading(place, place);
  for (const name of await readdir(join(place, 'indexes'))) {
    if (existsSync(behindMark(place, name))) continue;
    const tree = await treeOf(git, join(place, 'indexes', name));
    if (tree !== null) await keepTree(place, tree);
  }
  const kept = await forgetOldTrees(join(place, 'refs', 'checkpoints'), now);
  await (kept === 0 ? rm(place, { recursive: true, force: true }) : git.run(['gc', '--quiet', '--prune=1.day.ago']));
}

/** Of a copy: to write a tree git locks the index, and its owner may be at it. */
async function treeOf(git: ShadowGit, index: string): Promise<string | null> {
  const copy = join(git.place, 'swept.index');
  try {
    await copyFile(index, copy);
    return (await git.text(['write-tree'], { index: copy })).trim();
  } catch {
    // One that leads to objects that are gone is of no use, and whoever has it makes it anew.
    return null;
  } finally {
    await rm(copy, { force: true });
  }
}

/** How many are left. */
async function forgetOldTrees(folder: string, now: number): Promise<number> {
  let kept = 0;
  for (const part of await readdir(folder).catch(() => [])) {
    for (const name of await readdir(join(folder, part))) {
      const file = join(folder, part, name);
      if (now - (await timeOf(file)) > CHECKPOINT_DAYS * dayMs) await rm(file, { force: true });
      else kept += 1;
    }
    await rmdir(join(folder, part)).catch(() => undefined);
  }
  return kept;
}

/** Of processes that are no more, and of none that may be in the middle of a look. */
async function forgetOldIndexes(place: string, now: number): Promise<void> {
  for (const name of await readdir(join(place, 'indexes'))) {
    const file = join(place, 'indexes', name);
    if (now - (await timeOf(file)) > dayMs && !isAlive(Number(name.split('-')[0])))
      for (const path of [file, behindMark(place, name)]) await rm(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

const timeOf = async (path: string): Promise<number> => (await stat(path).catch(() => null))?.mtimeMs ?? 0;
