/** What is said of a path that leads to no step of a run: the nearest that does, and which there are. */
import { closest, distance } from 'fastest-levenshtein';
import { placeIn } from '../../language/edit.ts';
import type { EditRequest, StepList } from '../../interpreter/edits.ts';
import { ClientError } from '../../runs/client-error.ts';

const NAMED_MAX = 12;

export function noSuchStep({ handle, steps }: StepList, path: string, op?: EditRequest['op']): ClientError {
  const paths = steps.map((step) => step.path);
  const places = op === 'add' ? withEnds(paths) : paths;
  const named = places.slice(0, NAMED_MAX).join(', ');
  const all =
    places.length > NAMED_MAX
      ? `${named} and ${places.length - NAMED_MAX} more, which "sentinel step list ${handle}" shows`
      : named;
  const near = places.length > 1 ? nearest(path, places) : null;
  const remedy =
    places.length === 0 ? 'it has no steps' : `write one of ${all}${near === null ? '' : `; the nearest is ${near}`}`;
  return new ClientError(
    'STEP_NOT_FOUND',
    `${handle} has no place "${path}"; ${places.length === 1 ? `its only one is ${named}` : remedy}.`,
  );
}

/** Null where none is much like it. Of several the last: an index is mostly too large. */
function nearest(path: string, places: readonly string[]): string | null {
  const near = closest(path, places.toReversed());
  return distance(path, near) <= 2 ? near : null;
}

/** A step can be put behind the last one of each block, too. */
function withEnds(paths: readonly string[]): string[] {
  const lengths = new Map<string, number>();
  for (const path of paths) {
    const { block, index } = placeIn(path);
    lengths.set(block, Math.max(lengths.get(block) ?? 0, index + 1));
  }
  return [...paths, ...[...lengths].map(([block, length]) => `${block}.${length}`)];
}
