/** What the entries of a state are called that say what moves in the repository. */

/** No state holds files of such a folder, because homes of Sentinel are left out. */
export const RECORD = '.sentinel/repository/';

/** The first name of it. */
export const RECORD_ROOT = RECORD.slice(0, RECORD.indexOf('/'));

export const COMMIT = '160000';
export const FILE = '100644';

/** Beside refs by their whole names; no ref is called so. */
export const HEAD = 'HEAD';
export const INDEX = 'index';
export const PLACE = 'place';
export const WORK_TREES = 'worktrees/';
export const STASH = 'refs/stash';

/** Before the reason in `place`, where nothing is recorded. */
export const WITHOUT = '- ';

export const isOfRecord = (path: string): boolean => path.startsWith(RECORD);
export const nameOf = (path: string): string => path.slice(RECORD.length);
