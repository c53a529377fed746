/**
 * What may have changed in the folders of a project since it was asked last.
 *
 * - W1 A folder is watched before its names and files are looked at: what changes after the look is told.
 * - W2 Where something could change without a word (another file system in the project, one of another host, more
 *      folders than the system watches, a queue that ran over), nobody relies on it.
 */
import { statfsSync, statSync } from 'node:fs';
import { Inotify } from '../../world/files/inotify.ts';
import { CHECKPOINT_BOUNDS } from '../../world/git/trees/bounds.ts';
import type { KnownFolder } from '../../world/git/trees/known-tree.ts';

export interface Dirty {
  names: Set<string>;
  /** Names came or went. */
  isOfNames: boolean;
}

/** File systems that only this host writes: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs, bcachefs. */
const LOCAL = [
  0xef_53, 0x58_46_53_42, 0x91_23_68_3e, 0x01_02_19_94, 0x79_4c_76_30, 0x2f_c1_2f_c1, 0xf2_f5_20_10, 0xca_45_1a_4e,
];

let open = 0;

export class ProjectWatch {
  readonly #inotify: Inotify;
  readonly #device: number;
  readonly #folders = new Map<number, KnownFolder>();
  readonly #watches = new Map<KnownFolder, number>();
  readonly #timer: NodeJS.Timeout;
  #dirty = new Map<KnownFolder, Dirty>();
  #names = 0;
  /** Whether all that happened was told. */
  #isWhole = true;
  #isOpen = true;

  private constructor(inotify: Inotify, device: number) {
    this.#inotify = inotify;
    this.#device = device;
    // The queue has a bound, and nobody may ask for long.
    this.#timer = setInterval(() => this.#drain(), CHECKPOINT_BOUNDS.drainMs).unref();
    open += 1;
  }

  /** Null where what changes in the project cannot be told. */
  static open(project: string): ProjectWatch | null {
    if (open >= CHECKPOINT_BOUNDS.watchesMax) return null;
    // The numbers of some are negative where they are read with a sign.
    if (!LOCAL.includes(statfsSync(project).type >>> 0)) return null;
    const inotify = Inotify.open();
    return inotify === null ? null : new ProjectWatch(inotify, statSync(project).dev);
  }

  /** False where it cannot be watched. Asked of the system each time: another folder may have taken its place. */
  add(folder: KnownFolder, place: string, device: number): boolean {
    const watch = this.#isOpen && device === this.#device ? this.#inotify.add(place) : null;
    if (watch === null) return false;
    if (this.#watches.get(folder) === watch) return true;
    const moved = this.#folders.get(watch);
    if (moved !== undefined) this.#watches.delete(moved);
    this.#forget(folder);
    this.#folders.set(watch, folder);
    this.#watches.set(folder, watch);
    return true;
  }

  #forget(folder: KnownFolder): void {
    const watch = this.#watches.get(folder);
    if (watch === undefined) return;
    if (this.#isOpen) this.#inotify.remove(watch);
    this.#folders.delete(watch);
    this.#watches.delete(folder);
  }

  /** It is gone, or elsewhere, with all that is in it. */
  drop(folder: KnownFolder): void {
    this.#forget(folder);
    this.#dirty.delete(folder);
    for (const below of folder.folders.values()) this.drop(below);
  }

  /** Since the call before; null: anything. */
  take(): Map<KnownFolder, Dirty> | null {
    this.#drain();
    const taken = this.#isWhole ? this.#dirty : null;
    this.#dirty = new Map();
    this.#names = 0;
    this.#isWhole = true;
    return taken;
  }

  /** What was taken, and has not been looked at. */
  giveBack(taken: ReadonlyMap<KnownFolder, Dirty> | null): void {
    if (taken === null) this.#isWhole = false;
    for (const [folder, { names, isOfNames }] of taken ?? [])
      for (const name of names) this.#mark(folder, name, isOfNames);
  }

  #drain(): void {
    if (!this.#isOpen) return;
    const events = this.#inotify.drain();
    if (events === null) this.#isWhole = false;
    for (const { watch, name, isOfNames, isEnd } of events ?? []) {
      const folder = this.#folders.get(watch);
      if (folder === undefined) continue;
      if (isEnd) {
        this.#folders.delete(watch);
        this.#watches.delete(folder);
      } else this.#mark(folder, name, isOfNames);
    }
    if (this.#names > CHECKPOINT_BOUNDS.dirtyMax) this.#isWhole = false;
    if (!this.#isWhole) this.#dirty.clear();
  }

  #mark(folder: KnownFolder, name: string, isOfNames: boolean): void {
    const dirty = this.#dirty.get(folder) ?? { names: new Set<string>(), isOfNames: false };
    dirty.names.add(name);
    dirty.isOfNames ||= isOfNames;
    this.#dirty.set(folder, dirty);
    this.#names += 1;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#timer);
    this.#inotify.close();
    open -= 1;
  }
}
