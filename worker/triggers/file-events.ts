/**
 * `file:changed`: watches the projects in which somebody waits for events of files, and publishes what
 * changes. One worker of a machine watches a project, the one that holds its lock in the database;
 * when it ends, another takes over. What changes while no worker is up is not seen. A second lock says
 * that what changes from now on is seen, for whoever waits until then.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { TriggerLocks, TriggerStore } from '../../prisma/store/contract/trigger-contract.ts';
import { watchedLock } from '../../prisma/store/events/trigger-locks.ts';
import type { Subscription } from '../../prisma/store/contract/subscription.ts';
import { ProjectWatch, type FileChange } from './project-watch.ts';

export const FILE_CHANGED = 'file:changed';
/** One event stands for more than CHANGES_MAX changes at once: no branch switch starts thousands of runs. */
export const FILES_CHANGED = 'file:changed-many';
export const CHANGES_MAX = 200;
const PATHS_TOLD = 100;
const LOOK_MS = 3_000;
/** A run that waits again and again is not waiting in between. */
const LINGER_MS = 3_600_000;

export interface FileEventsParts {
  triggers: TriggerStore;
  /** Folders of ours that may lie in a project. */
  without: readonly string[];
  say: (text: string) => void;
}

interface Watched {
  watch: ProjectWatch;
  wantedAt: number;
  isReady: boolean;
  /** Whoever asks is told that it is watched. */
  isTold: boolean;
}

export class FileEvents {
  readonly #parts: FileEventsParts;
  readonly #locks: TriggerLocks;
  readonly #over = new AbortController();
  readonly #watched = new Map<string, Watched>();
  readonly #subscription: Subscription;
  readonly #done: Promise<void>;

  constructor(parts: FileEventsParts) {
    this.#parts = parts;
    this.#locks = parts.triggers.locks(() => void this.#closeAll());
    this.#subscription = parts.triggers.listenForFiles(LOOK_MS);
    this.#done = this.#run();
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#done;
    this.#subscription.close();
    await this.#closeAll();
    await this.#locks.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      // A store that is away is asked again; what is watched stays watched.
      await this.#look().catch(() => undefined);
      await this.#subscription.next(signal);
    }
  }

  async #look(): Promise<void> {
    const now = Date.now();
    for (const project of await this.#parts.triggers.projectsAwaitingFiles()) {
      const watched = this.#watched.get(project);
      if (watched !== undefined) watched.wantedAt = now;
      else if (existsSync(project) && (await this.#locks.take(lockOf(project)))) this.#watch(project, now);
      if (watched !== undefined) await this.#tell(project, watched);
    }
    for (const [project, { watch, wantedAt }] of this.#watched) {
      if (now - wantedAt < LINGER_MS && existsSync(project)) continue;
      this.#watched.delete(project);
      await this.#locks.release(watchedLock(project));
      await watch.close();
      await this.#locks.release(lockOf(project));
    }
  }

  #watch(project: string, now: number): void {
    const { without, say } = this.#parts;
    let hasFailed = false;
    const watch = new ProjectWatch({
      project,
      without,
      onChanges: (changes) => void this.#publish(project, changes),
      onError: (error) => {
        if (!hasFailed)
          say(
            `not all files of ${project} are watched (${error.message}); on Linux, raise fs.inotify.max_user_watches`,
          );
        hasFailed = true;
      },
    });
    const watched: Watched = { watch, wantedAt: now, isReady: false, isTold: false };
    this.#watched.set(project, watched);
    void watch.ready.then(() => {
      watched.isReady = true;
      // Where the database is away just now, the next look tells.
      return this.#tell(project, watched).catch(() => undefined);
    });
  }

  /** Of several machines whose folder has that name, one tells for all. */
  async #tell(project: string, watched: Watched): Promise<void> {
    if (!watched.isReady || watched.isTold || this.#watched.get(project) !== watched) return;
    watched.isTold = await this.#locks.take(watchedLock(project));
  }

  async #publish(project: string, changes: readonly FileChange[]): Promise<void> {
    const { triggers, say } = this.#parts;
    const source = { source: '@file', project };
    try {
      if (changes.length > CHANGES_MAX) {
        const paths = changes.slice(0, PATHS_TOLD).map(({ path }) => path);
        await triggers.publish({
          ...source,
          id: randomUUID(),
          name: FILES_CHANGED,
          data: { count: changes.length, paths },
        });
        return;
      }
      for (const { path, kind } of changes) {
        const data = { path, absolutePath: join(project, path), kind };
        await triggers.publish({ ...source, id: randomUUID(), name: FILE_CHANGED, data });
      }
    } catch (error) {
      say(
        `changes of files in ${project} were not published: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async #closeAll(): Promise<void> {
    const all = [...this.#watched.values()];
    this.#watched.clear();
    await Promise.all(all.map(({ watch }) => watch.close()));
  }
}

const lockOf = (project: string): string => `files ${hostname()} ${project}`;
