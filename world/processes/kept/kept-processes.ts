/**
 * The kept processes of a home, and those of them that this worker watches over.
 *
 * - K1 A process has one owner, its latest claim. Who is overtaken, in this worker or in another, neither ends it nor says
 *      what came of it.
 * - K2 What a worker lets go of goes on. What nobody will ask for any more is ended with all that it started, and its
 *      files are removed: by whoever looks after the home, never while a living worker has it.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { crashPoint } from '../../crash-points/crash-point.ts';
import { SHELL_BOUNDS } from '../bounds.ts';
import { endStep, isWorkerGone } from '../orphans.ts';
import { LeftBehind, sinceNow } from '../overtaken.ts';
import { endGroups } from '../processes.ts';
import { groupsBelow } from '../process-table.ts';
import { type Claim, keptIdOf, KeptFolder, type KeptStart } from './kept-folder.ts';
import { isThere } from './kept-process.ts';
import { KeptSpares } from './kept-spares.ts';
import { Starter } from './starter.ts';

/** Whether the run still waits for this step; null where nobody can say now. */
export type IsAwaited = (handle: string, key: string) => Promise<boolean | null>;

export interface Hold {
  folder: KeptFolder;
  /** Aborts with `LeftBehind` when the process is to be let go of. */
  left: AbortSignal;
  isOurs(): boolean;
  /** Nobody of this worker watches any more: its step has ended, or it goes on and somebody else may want it. */
  close(end: 'ended' | 'left'): void;
}

interface Watcher {
  /** That it is to let go. */
  told: AbortController;
  done: Promise<unknown>;
}

/** A folder is left alone for so long after its last watcher: its outcome is on its way. */
const restMs = 10_000;
const leftMs = 500;

export class KeptProcesses {
  readonly root: string;
  readonly #worker: string;
  readonly #held = new Map<string, Watcher>();
  /** Those that this worker has let go of, and nobody here has taken up since. */
  readonly #left = new Map<string, Pick<KeptStart, 'handle' | 'key'>>();
  /** Whose watchers have gone, and when. */
  readonly #ended = new Map<string, number>();
  readonly starter = new Starter();
  readonly #spares = new KeptSpares();
  readonly #closing = new AbortController();
  /** Between two looks; ended early where a process was let go of. */
  #pause = new AbortController();
  #rounds: Promise<void> | undefined;
  #isLeaving = false;

  /** `worker`: its marker (orphans.ts). */
  constructor(root: string, worker: string) {
    this.root = root;
    this.#worker = worker;
  }

  /** Throws where the folder cannot be written. */
  make(start: KeptStart): Hold {
    const id = keptIdOf(start.handle, start.key);
    const claim = this.#claimOf(start.attempt);
    const folder = KeptFolder.make(this.root, id, { start, worker: this.#worker, spares: this.#spares });
    return this.#hold(id, folder, claim, start);
  }

  find(handle: string, key: string): KeptFolder | null {
    return KeptFolder.find(this.root, keptIdOf(handle, key));
  }

  /** Of a step, or of a command that has several: each under the key of the step, a slash and its own. */
  hasAny(handle: string, key: string): boolean {
    if (this.find(handle, key) !== null) return true;
    return KeptFolder.all(this.root).some(({ start }) => start?.handle === handle && start.key.startsWith(`${key}/`));
  }

  /** Whether its worker died before anything of it could begin. */
  isUnmade(handle: string, key: string): boolean {
    return KeptFolder.isUnmade(this.root, { handle, key });
  }

  /** Throws `LeftBehind` where somebody has a later claim. */
  async takeOver(
    handle: string,
    key: string,
    { folder, attempt }: { folder: KeptFolder; attempt: number },
  ): Promise<Hold> {
    const claim = this.#claimOf(attempt);
    if (!folder.claim(claim)) throw new LeftBehind(`another worker watches over ${handle} ${key}`);
    const id = keptIdOf(handle, key);
    const earlier = this.#held.get(id);
    const hold = this.#hold(id, folder, claim, { handle, key });
    // What an earlier attempt of this worker has read, it still writes down.
    await Promise.race([earlier?.done, sleep(SHELL_BOUNDS.logGiveUpCancelledMs, undefined, { ref: false })]);
    return hold;
  }

  /** Ends the process of a step with all that it started, where there is one. */
  async end(handle: string, key: string): Promise<void> {
    const folder = this.find(handle, key);
    if (folder !== null) await endKept(folder, { handle, key });
  }

  /** Its result is in the history of its run. */
  forget(handle: string, key: string): void {
    const id = keptIdOf(handle, key);
    if (!this.#ended.delete(id)) return;
    crashPoint('process.recorded', { handle, key });
    KeptFolder.find(this.root, id)?.giveTo(this.#spares);
  }

  /** Looks after the home until it is closed. */
  open(isAwaited: IsAwaited): void {
    this.#rounds ??= this.#lookAgain(isAwaited);
  }

  /** The processes go on, and whoever comes next takes them over. */
  leave(): void {
    this.#isLeaving = true;
    for (const { told } of this.#held.values()) told.abort(new LeftBehind('its worker ends, and the process goes on'));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#rounds;
    if (!this.#isLeaving) await this.#endLeft();
    this.#spares.close();
    this.starter.close();
  }

  /** What was begun here, and would have been gone on with here, ends with its worker; nobody else has it yet. */
  async #endLeft(): Promise<void> {
    for (const [id, step] of this.#left) {
      const folder = KeptFolder.find(this.root, id);
      if (folder?.latestClaim?.worker === this.#worker && folder.outcome === null) await endKept(folder, step);
    }
  }

  #claimOf(attempt: number): Claim {
    return { number: attempt, worker: this.#worker };
  }

  #hold(id: string, folder: KeptFolder, claim: Claim, { handle, key }: Pick<KeptStart, 'handle' | 'key'>): Hold {
    this.#held.get(id)?.told.abort(new LeftBehind('a later attempt watches over the process'));
    const hasStoodStill = sinceNow();
    const told = new AbortController();
    const closed = new AbortController();
    const own = { told, done: once(closed.signal, 'abort') };
    this.#held.set(id, own);
    this.#ended.delete(id);
    this.#left.delete(id);
    if (this.#isLeaving) told.abort(new LeftBehind('its worker ends, and the process goes on'));
    return {
      folder,
      left: told.signal,
      isOurs: () => !told.signal.aborted && isLatest(folder, claim, hasStoodStill),
      close: (end) => {
        closed.abort();
        if (this.#held.get(id) !== own) return;
        this.#held.delete(id);
        if (end === 'ended') this.#ended.set(id, performance.now());
        else {
          this.#left.set(id, { handle, key });
          this.#pause.abort();
        }
      },
    };
  }

  async #lookAgain(isAwaited: IsAwaited): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#look(isAwaited).catch(() => undefined);
      this.#pause = new AbortController();
      const paused = AbortSignal.any([signal, this.#pause.signal]);
      await sleep(SHELL_BOUNDS.keepMs, undefined, { signal: paused, ref: false }).catch(() => undefined);
      // Whoever was told to let go has not told the server yet.
      if (this.#pause.signal.aborted) await sleep(leftMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(isAwaited: IsAwaited): Promise<void> {
    KeptFolder.sweep(this.root);
    for (const id of this.#left.keys()) if (KeptFolder.find(this.root, id) === null) this.#left.delete(id);
    for (const folder of KeptFolder.all(this.root)) {
      if (this.#closing.signal.aborted) return;
      const { start, latestClaim } = folder;
      if (start === null) {
        if (latestClaim !== null && (await isGone(folder, latestClaim))) folder.remove();
        continue;
      }
      const { handle, key } = start;
      const id = keptIdOf(handle, key);
      if (this.#held.has(id) || performance.now() - (this.#ended.get(id) ?? Number.NEGATIVE_INFINITY) < restMs)
        continue;
      const isOwn = latestClaim?.worker === this.#worker;
      if (!isOwn && latestClaim !== null && !(await isGone(folder, latestClaim))) continue;
      if ((await isAwaited(handle, key)) !== false || this.#held.has(id)) continue;
      crashPoint('process.unwanted', { handle, key });
      await endKept(folder, start);
      this.#ended.delete(id);
    }
  }
}

/** A folder that was deleted tells nothing: then whoever has watched all the time has it. */
function isLatest(folder: KeptFolder, claim: Claim, hasStoodStill: () => boolean): boolean {
  const latest = folder.latestClaim;
  return latest === null && !folder.isThere ? !hasStoodStill() : latest?.number === claim.number;
}

/**
 * Whether nobody of this host watches over it any more. On another host its process is out of reach: what is kept of it
 * goes when its run does not wait for it, and a worker there ends what runs without (orphans.ts).
 */
const isGone = async (folder: KeptFolder, { worker }: Claim): Promise<boolean> =>
  !folder.isOfThisHost || (await isWorkerGone(worker, { isOfThisHost: true }));

/** Ends a process with all that it started, and removes what is left of it. */
export async function endKept(folder: KeptFolder, { handle, key }: Pick<KeptStart, 'handle' | 'key'>): Promise<void> {
  const { keeper } = folder;
  folder.because('cancelled');
  if (keeper !== null && (await isThere(keeper))) await endGroups(() => groupsBelow(keeper.pid), SHELL_BOUNDS.graceMs);
  // What lost its keeper is known by its mark.
  if (folder.outcome === null) await endStep(handle, key).catch(() => undefined);
  folder.remove();
}

/** All that run of a home: when its services end. What has ended stays for whoever asks for its outcome. */
export async function endAllKept(root: string): Promise<void> {
  await Promise.all(
    KeptFolder.all(root).map(async (folder) => {
      const { start, keeper } = folder;
      if (start !== null && keeper !== null && (await isThere(keeper))) await endKept(folder, start);
    }),
  );
}
