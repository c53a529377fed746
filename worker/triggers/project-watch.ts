/**
 * Changes of the files of one project, gathered while they come thick and fast: a file that an editor
 * writes three times in a moment has changed once.
 */
import { relative, sep } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';
import { GitIgnores } from './git-ignores.ts';

export type FileChangeKind = 'added' | 'changed' | 'removed';

export interface FileChange {
  /** Relative to the project, with `/` between folders. */
  path: string;
  kind: FileChangeKind;
}

const QUIET_MS = 150;
const GATHER_MAX_MS = 2_000;

export interface ProjectWatchOptions {
  project: string;
  /** Folders whose changes are nobody's business, besides what git ignores. */
  without: readonly string[];
  onChanges: (changes: FileChange[]) => void;
  onError: (error: Error) => void;
}

export class ProjectWatch {
  readonly #options: ProjectWatchOptions;
  readonly #ignores: GitIgnores;
  readonly #watcher: FSWatcher;
  readonly ready: Promise<void>;
  #pending = new Map<string, FileChangeKind>();
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ProjectWatchOptions) {
    this.#options = options;
    this.#ignores = new GitIgnores(options.project);
    const watcher = watch(options.project, {
      ignored: (path, stats) => this.#isIgnored(path, stats?.isDirectory() ?? false),
      ignoreInitial: true,
      ignorePermissionErrors: true,
      followSymlinks: false,
    });
    watcher.on('add', (path) => this.#note(path, 'added'));
    watcher.on('change', (path) => this.#note(path, 'changed'));
    watcher.on('unlink', (path) => this.#note(path, 'removed'));
    watcher.on('error', (error) => options.onError(error instanceof Error ? error : new Error(String(error))));
    this.#watcher = watcher;
    this.ready = new Promise((resolve) => {
      watcher.once('ready', () => resolve());
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#pending.clear();
    await this.#watcher.close();
  }

  #isIgnored(path: string, isFolder: boolean): boolean {
    const { project, without } = this.#options;
    if (path === project) return false;
    return (
      without.some((folder) => path === folder || path.startsWith(`${folder}${sep}`)) ||
      this.#ignores.ignores(path, isFolder)
    );
  }

  #note(path: string, kind: FileChangeKind): void {
    if (path.endsWith('.gitignore')) this.#ignores.forget();
    // Asked again: the rules may have changed since the folder was first looked at.
    if (this.#ignores.ignores(path, false)) return;
    const name = relative(this.#options.project, path).split(sep).join('/');
    const before = this.#pending.get(name);
    const now = folded(before, kind);
    if (now === null) this.#pending.delete(name);
    else this.#pending.set(name, now);
    const at = Date.now();
    if (this.#timer === undefined) this.#since = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, Math.min(QUIET_MS, this.#since + GATHER_MAX_MS - at)));
  }

  #flush(): void {
    this.#timer = undefined;
    const changes = Array.from(this.#pending, ([path, kind]) => ({ path, kind }));
    this.#pending = new Map();
    if (changes.length > 0) this.#options.onChanges(changes);
  }
}

/** Two changes of one file in a moment as one; null when it came and went. */
function folded(before: FileChangeKind | undefined, now: FileChangeKind): FileChangeKind | null {
  if (before === undefined) return now;
  if (before === 'added') return now === 'removed' ? null : 'added';
  return before === 'removed' && now === 'added' ? 'changed' : now;
}
