/** What became of a ref, HEAD, the index, the list of stashes or a work tree, in a few words. */

export interface MovedRef {
  name: string;
  before: string | null;
  after: string | null;
  added: number | null;
  removed: number | null;
}

/** As git shortens them. */
const short = (value: string): string =>
  /^[0-9a-f]{40}$/.test(value) ? value.slice(0, 7) : value.replace(/^refs\/heads\//, '');

export function moveOf({ name, before, after, added, removed }: MovedRef): string {
  if (name === 'index') return `+${added ?? 0} -${removed ?? 0}`;
  const stashes = added === null ? '' : `  +${added} -${removed ?? 0}`;
  if (before === null) return `created ${short(after ?? '')}${stashes}`;
  if (after === null) return `deleted ${short(before)}${stashes}`;
  return `${short(before)} → ${short(after)}${stashes}`;
}

/** As an undo takes it back. */
export const backOf = ({ name, before, after }: Pick<MovedRef, 'name' | 'before' | 'after'>): string =>
  name === 'index'
    ? 'as it was staged before'
    : moveOf({ name, before: after, after: before, added: null, removed: null }).replace(/^created /, 'brought back ');
