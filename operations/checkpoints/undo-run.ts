/**
 * Takes back what a run did, in its project and in its workspaces: one folder after the other, and in none of them where
 * one is in conflict.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkpoint, Checkpoints } from '../../prisma/store/contract/checkpoint-contract.ts';
import type { Access } from '../../world/confinement/confine.ts';
import { nameWithin } from './stretches.ts';
import { type Chosen, gapsOf, orRefused, selected, type Undone, type UndoRequest, undoInPlace } from './undo.ts';

/** What a person asked for; with `access` a look as a step would have it. */
export const undoRun = (rows: Checkpoints, request: UndoRequest & { access?: Access }): Promise<Undone> =>
  orRefused(() => undoAsPerson(rows, request));

async function undoAsPerson(rows: Checkpoints, request: UndoRequest & { access?: Access }): Promise<Undone> {
  const all = await rows.ofRun(request.handle);
  const chosen = selected(all, request);
  const known = chosen.filter(({ before }) => before !== null);
  const places = [...new Set(known.map(({ place }) => place))];
  if (places.length < 2) return undoInPlace(rows, request, { all, chosen });
  // A run of several workspaces, of which some may be removed.
  const there = places.filter((place) => known.some((one) => one.place === place && existsSync(one.project)));
  const of = (place: string): Chosen => ({ all, chosen: chosen.filter((one) => one.place === place) });
  const looks: Undone[] = [];
  for (const place of there) looks.push(await undoInPlace(rows, { ...request, dryRun: true }, of(place)));
  const looked = together(request.handle, chosen, looks, there);
  const isHeld = looked.conflicts.length > 0 && request.force !== true && request.sure !== true;
  if (isHeld || request.dryRun === true) return looked;
  const undone: Undone[] = [];
  for (const place of there)
    undone.push(await undoInPlace(rows, request, { ...of(place), all: await rows.ofRun(request.handle) }));
  return together(request.handle, chosen, undone, there);
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
