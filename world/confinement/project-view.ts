/**
 * What a sandbox shows of the project, made by descriptor and looked at before anything runs in it.
 *
 * - V1 What is mounted is what was found: each source is opened beneath the root through no link (beneath.ts),
 *      and bwrap gets the descriptor. A folder that a process moves away meanwhile, or a link in its place,
 *      does not change the source.
 * - V2 Each mount is looked at from outside, where the sandbox sees it, while bwrap waits (`examine`). Until
 *      all of them are what they are to be, the program is not started.
 * - V3 In a sandbox neither a protected place nor a folder around one can be moved: each is a mount of its own.
 *      So no step can hide a place from the search for the sandbox of another. Where one lives already, the
 *      search is made again once the mounts are there.
 */
import { closeSync, fstatSync, lstatSync, type BigIntStats } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../failures/failures.ts';
import { openBeneath } from './beneath.ts';
import { isBelow } from '../own-programs/helper-programs.ts';

/** A place in the project, and what the sandbox shows there. */
export interface Shown {
  place: string;
  as: 'itself' | 'read-only' | 'empty-folder' | 'empty-file' | 'file';
  /** For `file`: what is shown in its stead, read-only. */
  file?: string;
}

/** What a look at the project finds. */
export interface Looked {
  /** Every place that is to be covered. */
  shown: readonly Shown[];
  /** Places outside the project that are not to be seen. */
  outside: readonly string[];
  /** Places that may not come into being. */
  missing: readonly string[];
}

/** Looks anew at each call. */
type Search = () => Promise<Looked>;

interface Mount extends Shown {
  descriptor?: number;
  found?: BigIntStats;
}

/** bwrap takes 9,000 words. */
const MOUNTS_MAX = 2_000;
const waitMs = 30_000;
const pauseMs = 2;

/** Sandboxes that live, each by the root of its project. */
const living = new Set<{ root: string }>();
/** Those that are being made. */
const watching = new Set<Watch>();

interface Watch {
  root: string;
  /** The sandbox of another step has lived in the project, around it or in it since this one was begun. */
  isDisturbed: boolean;
}

const areRelated = (one: string, other: string): boolean => isBelow(one, other) || isBelow(other, one);

function watchLives(root: string): Watch {
  const watch = { root, isDisturbed: [...living].some((life) => areRelated(life.root, root)) };
  watching.add(watch);
  return watch;
}

/** A sandbox that is watched from now on. */
export function live(root: string, ended: Promise<unknown>): void {
  const life = { root };
  living.add(life);
  for (const watch of watching) watch.isDisturbed ||= areRelated(watch.root, root);
  void ended.then(() => living.delete(life));
}

export class ProjectView {
  readonly descriptors: number[] = [];
  readonly #root: string;
  readonly #mounts: Mount[] = [];
  readonly looked: Looked;
  readonly #search: Search;
  readonly #watch: Watch;

  private constructor(root: string, looked: Looked, search: Search, watch: Watch) {
    this.#root = root;
    this.looked = looked;
    this.#search = search;
    this.#watch = watch;
  }

  static async make(root: string, search: Search): Promise<ProjectView> {
    const watch = watchLives(root);
    try {
      const view = new ProjectView(root, await search(), search, watch);
      view.#open();
      return view;
    } catch (error) {
      watching.delete(watch);
      throw error;
    }
  }

  #open(): void {
    try {
      for (const each of [{ place: this.#root, as: 'itself' } as const, ...inOrder(this.#root, this.looked.shown)])
        this.#add(each);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #add(shown: Shown): void {
    if (shown.as !== 'itself' && shown.as !== 'read-only') {
      this.#mounts.push(shown);
      return;
    }
    const descriptor = openBeneath(this.#root, shown.place);
    if (descriptor === null) throw changed(shown.place, 'was moved while the sandbox was made');
    this.descriptors.push(descriptor);
    this.#mounts.push({ ...shown, descriptor, found: fstatSync(descriptor, { bigint: true }) });
  }

  /** Options for bwrap, which inherits the descriptors from `first` on, and after them two pipes. */
  options(first: number): string[] {
    const pipes = first + this.descriptors.length;
    return [
      ...this.#mounts.flatMap((mount) => this.#option(mount, first)),
      '--info-fd',
      String(pipes),
      '--block-fd',
      String(pipes + 1),
    ];
  }

  #option({ place, as, file, descriptor = -1 }: Mount, first: number): string[] {
    const inherited = String(first + this.descriptors.indexOf(descriptor));
    switch (as) {
      case 'itself':
        return ['--bind-fd', inherited, place];
      case 'read-only':
        return ['--ro-bind-fd', inherited, place];
      case 'empty-folder':
        return ['--tmpfs', place];
      case 'empty-file':
        return ['--ro-bind', '/dev/null', place];
      case 'file':
        return ['--ro-bind', file ?? '/dev/null', place];
      default:
        return as satisfies never;
    }
  }

  /** Once the process has them, or will not be started. */
  close(): void {
    for (const descriptor of this.descriptors.splice(0)) closeSync(descriptor);
  }

  /**
   * Lets the process go on (`open`) when what it sees is right; otherwise what is wrong, and it has to be ended. `exit`
   * resolves when it has ended: what it complained of then is its own.
   */
  async examine(info: Readable, exit: Promise<unknown>, open: () => void): Promise<Failure | null> {
    const left = exit.then(() => 'ended' as const);
    const found = await Promise.race([left, this.#look(info)]).finally(() => watching.delete(this.#watch));
    if (found !== null) return found === 'ended' ? null : found;
    live(this.#root, left);
    open();
    return null;
  }

  async #look(info: Readable): Promise<Failure | null> {
    const pid = await pidIn(info);
    const options = await mounted(pid);
    if (options === null) return changed(this.#root, 'could not be mounted in time');
    if (this.#watch.isDisturbed) {
      const covered = new Set(this.#mounts.map(({ place }) => place));
      const late = (await this.#search()).shown.find(({ place }) => !covered.has(place))?.place;
      if (late !== undefined) return changed(late, 'came to this place while the sandbox was made');
    }
    for (const mount of this.#mounts) {
      const wrong = await differs(mount, options.get(mount.place), `/proc/${pid}/root${mount.place}`);
      if (wrong !== null) return changed(mount.place, wrong);
    }
    return null;
  }
}

/** Folders before what is in them, and those around a protected place with it. */
function inOrder(root: string, shown: readonly Shown[]): Shown[] {
  const byPlace = new Map<string, Shown>();
  for (const each of shown) byPlace.set(each.place, byPlace.get(each.place) ?? each);
  const given = [...byPlace.values()].toSorted((a, b) => b.place.length - a.place.length);
  /** In what is read-only nothing moves. */
  const isHeld = (folder: string): boolean => {
    const around = given.find(({ place }) => isBelow(folder, place))?.as ?? 'itself';
    return around === 'read-only' || around === 'empty-folder';
  };
  for (const { place } of given) {
    for (let at = dirname(place); at !== root && isBelow(at, root); at = dirname(at))
      if (!byPlace.has(at) && !isHeld(at)) byPlace.set(at, { place: at, as: 'itself' });
  }
  if (byPlace.size > MOUNTS_MAX) throw tooMany(root, shown);
  return [...byPlace.values()].toSorted((a, b) => (a.place < b.place ? -1 : 1));
}

const foldersNamed = 3;

/** A step may have made them: then they are to be found, and taken back. */
function tooMany(root: string, shown: readonly Shown[]): Failure {
  const counts = new Map<string, number>();
  for (const { place } of shown) counts.set(dirname(place), (counts.get(dirname(place)) ?? 0) + 1);
  const fullest = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, foldersNamed);
  const named = fullest.map(([folder, count]) => `${relative(root, folder) || '.'} (${count})`).join(', ');
  return new Failure(
    'SANDBOX_NOT_AVAILABLE',
    `the run is "sandboxed", and ${root} holds more than ${MOUNTS_MAX} protected places (files with secrets, repositories, definitions, homes) and folders around them, most of them in ${named}; remove those that nobody needs ("sentinel undo" takes back what a run has made), or run it in a folder with fewer`,
  );
}

const changed = (place: string, finding: string): Failure =>
  new Failure(
    'SANDBOX_CHANGED',
    `the sandbox does not show what it is to show: ${place} ${finding}; try again when nothing moves it`,
  );

/** What bwrap says of itself: an object with the process that is inside. */
function pidIn(info: Readable): Promise<number> {
  let said = '';
  return new Promise((resolve) => {
    info.on('error', () => undefined);
    info.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
      const pid = /"child-pid": (\d+)/.exec(said)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
}

const inFull = /^\d+ \d+ \S+ \/newroot \/ /m;

/** The options of each mount by its place, once bwrap has made the last and left the host's; null when that does not come. */
async function mounted(pid: number): Promise<Map<string, string[]> | null> {
  const until = performance.now() + waitMs;
  while (performance.now() < until) {
    const table = await readFile(`/proc/${pid}/mountinfo`, 'latin1').catch(() => '');
    if (inFull.test(table))
      return new Map(
        table
          .split('\n')
          .map((line) => line.split(' '))
          .map(([, , , , place = '', options = '']) => [plain(place), options.split(',')]),
      );
    await sleep(pauseMs);
  }
  return null;
}

/** The kernel writes spaces and line ends in octal. */
const plain = (place: string): string =>
  Buffer.from(
    place.replaceAll(/\\([0-7]{3})/g, (_all, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8))),
    'latin1',
  ).toString('utf8');

async function differs(mount: Mount, options: readonly string[] | undefined, seen: string): Promise<string | null> {
  if (options === undefined) return 'is not covered';
  if (mount.as !== 'itself' && mount.as !== 'empty-folder' && !options.includes('ro')) return 'is not read-only';
  const now = await lstat(seen, { bigint: true }).catch(() => null);
  if (now === null) return 'is not there';
  switch (mount.as) {
    case 'itself':
    case 'read-only':
      return now.dev === mount.found?.dev && now.ino === mount.found.ino ? null : 'is another';
    case 'empty-folder':
      return (await readdir(seen).catch(() => ['?'])).length === 0 ? null : 'is not empty';
    case 'empty-file':
      return now.rdev === lstatSync('/dev/null', { bigint: true }).rdev ? null : 'is not empty';
    case 'file':
      return now.ino === lstatSync(mount.file ?? '/dev/null', { bigint: true }).ino ? null : 'is another';
    default:
      return mount.as satisfies never;
  }
}

/** A pipe that bwrap waits for: one that nobody reads any more says nothing. */
export function gateOf(gate: Writable): () => void {
  gate.on('error', () => undefined);
  return () => void gate.end('go');
}
