import { SYMLINK } from '../../world/git/trees/files-in-place.ts';

/** One such name would end the whole call: git takes it for a repository of its own, or a link for its settings. */
export const isRefusedByGit = (path: string, mode: string): boolean =>
  /(?:^|\/)\.git(?:\/|$)/i.test(path) || (mode === SYMLINK && /(?:^|\/)\.gitmodules(?:\/|$)/i.test(path));
