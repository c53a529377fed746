/**
 * Takes back what a run did, in its project and in its workspaces: one folder after the other, and in none of them where
 * one is in conflict.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkpoint, CheckpointOf, Checkpoints } from '../../prisma/store/contract/checkpoint-contract.ts';
import type { Access } from '../../world/confinement/confine.ts';
import type { ProjectTrees } from './project-trees.ts';
import { besideOf, nameWithin } from './stretches.ts';
import {
  checkPlace,
  type Chosen,
  gapsOf,
  orRefused,
  refused,
  selected,
  STEP_KEY,
  type Undone,
  type UndoRequest,
  undoInPlace,
  undoSteps,
} from './undo.ts';

/** What a person asked for; with `access` a look as a step would have it. */
export const undoRun = (rows: Checkpoints, request: UndoRequest & { access?: Access }): Promise<Undone> =>
  orRefused(() => undoAsPerson(rows, request));

async function undoAsPerson(rows: Checkpoints, request: UndoRequest & { access?: Access }): Promise<Undone> {
  const all = await rows.ofRun(request.handle);
  const chosen = selected(all, request);
  const places = new Set(chosen.flatMap(({ before, place }) => (before === null ? [] : [place])));
  if (places.size < 2) return undoInPlace(rows, request, { all, chosen });
  return undoInPlaces(rows, request, { all, chosen }, (_place, those, asked) => undoInPlace(rows, asked, those));
}

/** In several folders, of which some may be removed; in none of them where one is in conflict. */
async function undoInPlaces<Request extends UndoRequest>(
  rows: Checkpoints,
  request: Request,
  { all, chosen }: Chosen,
  inPlace: (place: string, those: Chosen, asked: Request) => Promise<Undone>,
): Promise<Undone> {
  const known = chosen.filter(({ before }) => before !== null);
  const there = [...new Set(known.flatMap(({ place, project }) => (existsSync(project) ? [place] : [])))];
  const [first] = known;
  if (there.length === 0 && first !== undefined) checkPlace(first.place, first.project);
  const of = (place: string): readonly Checkpoint[] => chosen.filter((one) => one.place === place);
  const looks: Undone[] = [];
  for (const place of there) looks.push(await inPlace(place, { all, chosen: of(place) }, { ...request, dryRun: true }));
  const looked = together(request.handle, chosen, looks, there);
  const isHeld = looked.conflicts.length > 0 && request.force !== true && request.sure !== true;
  if (isHeld || request.dryRun === true) return looked;
  const undone: Undone[] = [];
  for (const place of there)
    undone.push(await inPlace(place, { all: await rows.ofRun(request.handle), chosen: of(place) }, request));
  return together(request.handle, chosen, undone, there);
}

/**
 * What a step of the run asked for; its own state before was taken when it began. A step that has written nothing yet has
 * nothing to take back.
 */
export async function undoFromStep(
  rows: Checkpoints,
  trees: ProjectTrees,
  own: CheckpointOf,
  request: UndoRequest & { access?: Access | undefined },
): Promise<Undone> {
  const all = await rows.ofRun(request.handle);
  const mine = all.find(({ handle, key }) => handle === own.handle && key === own.key);
  const now = mine?.before ?? null;
  if (mine === undefined || now === null)
    throw refused(`the state of the project could not be taken (${mine?.skipped ?? 'checkpoints are turned off'})`);
  const earlier = all.filter(({ position }) => position < mine.position);
  const chosen = selected(earlier, request, STEP_KEY);
  const here = trees.git.place;
  const inPlace = async (place: string, those: Chosen, asked: typeof request): Promise<Undone> => {
    if (place !== here) return undoInPlace(rows, asked, those);
    const beside = await besideOf(rows, those.chosen, { root: request.handle, asking: own });
    return undoSteps(those.chosen, { trees, now, beside, access: request.access }, asked);
  };
  const undone = await orRefused(() => {
    const isHereAlone = chosen.every(({ before, place }) => before === null || place === here);
    if (isHereAlone) return inPlace(here, { all, chosen }, request);
    return undoInPlaces(rows, request, { all, chosen }, inPlace);
  });
  return { ...undone, undo: undone.done ? own.key : null };
}

/** What was done in each of several folders, with paths that say in which. */
function together(
  handle: string,
  chosen: readonly Checkpoint[],
  undone: readonly Undone[],
  places: readonly string[],
): Undone {
  const folders = places.map((place) => chosen.find((one) => one.place === place)?.project ?? '');
  const within = <Of extends { path: string }>(pick: (one: Undone) => readonly Of[]): Of[] =>
    undone.flatMap((one, at) => pick(one).map((each) => ({ ...each, path: join(folders[at] ?? '', each.path) })));
  const gone = chosen.filter(({ before, place }) => before !== null && !places.includes(place));
  return {
    handle,
    files: within(({ files }) => files),
    refs: undone.flatMap(({ refs }) => refs),
    conflicts: within(({ conflicts }) => conflicts),
    left: within(({ left }) => left),
    gaps: [
      ...gapsOf(chosen, handle),
      ...gone.map((one) => ({ key: nameWithin(handle, one), why: `${one.project} was removed` })),
    ],
    done: undone.every(({ done }) => done),
    undo: undone.find(({ undo }) => undo !== null)?.undo ?? null,
  };
}
