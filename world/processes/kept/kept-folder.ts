/**
 * What is on disk of a process that outlives its worker, in a folder of its own:
 *
 * | file | written by | says |
 * |---|---|---|
 * | `started` | the worker that starts it | the step, what it was asked for, since when, and that worker, by marker |
 * | `claim-N` | whoever takes it over | the worker, by marker, as a link; the highest N is whose it is (the fence) |
 * | `who` | its keeper, before it runs | the boot, the pid namespace, the keeper's pid and start time |
 * | `places` | the worker that starts it | its folder, and what may not come into being while it runs |
 * | `gate`, `begun` | the worker that starts it | in a sandbox: the pipe that its program waits for, and that it may go on |
 * | `in` | the worker that starts it | its input |
 * | `out`, `err` | its keeper | what it prints, behind one NUL: a search through the folder (`grep -r`) takes it for no text |
 * | `read` | its watcher | bytes of `out` and of `err` that nobody needs to read again |
 * | `reason` | the first to end it | why: `timeout`, `cancelled`, `memory KB`, `place PATH` |
 * | `outcome` | its keeper, whole or not at all | the status as wait has it, the uptime then, and whether something holds its output open |
 * | `closed` | its keeper | nothing holds it open any more |
 *
 * The keeper is the init of a step (init-programs.ts). Without fsync: what a power cut takes is unknown, not wrong.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { crashPoint } from '../../crash-points/crash-point.ts';
import { findHelper, helperEnvironment } from '../../own-programs/helper-programs.ts';
import { type KeptSpares, SPARE } from './kept-spares.ts';

const Started = z.strictObject({
  handle: z.string(),
  key: z.string(),
  /** Label of its log. */
  attempt: z.number(),
  timeoutMs: z.number(),
  /** Of what was asked for: another request is another process. */
  digest: z.string(),
  /** In seconds of the machine's uptime, which no change of the clock moves. */
  beganAt: z.number(),
  worker: z.string(),
});
/** What a worker writes down before it starts a process, besides who it is. */
export type KeptStart = Omit<z.infer<typeof Started>, 'worker'>;

const Places = z.strictObject({ cwd: z.string(), missing: z.array(z.string()) });
type KeptPlaces = Readonly<{ cwd: string; missing: readonly string[] }>;

export interface Outcome {
  /** As wait(2) has it. */
  status: number;
  /** In seconds of the machine's uptime. */
  endedAt: number;
  /** Whether something that it has started could still print. */
  isOpen: boolean;
}

export interface Claim {
  number: number;
  worker: string;
}

export interface Keeper {
  /** The boot and the pid namespace in which its pid means something. */
  host: string;
  pid: number;
  start: string;
}

/** Where a stream begins in its file. */
export const STREAM_START = 1;

const GONE = '.gone';
const SPARE_MS = 3_600_000;
const CLAIM = /^claim-(\d+)$/;

export const keptIdOf = (handle: string, key: string): string =>
  createHash('sha256').update(`${handle}:${key}`).digest('hex').slice(0, 24);

export const digestOf = (asked: unknown): string =>
  createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 24);

/** Where the processes of a home are kept. */
export const keptRoot = (home: string): string => join(home, 'processes');

let ownHost: string | undefined;

/** Pids of another boot, or of another pid namespace, are not ours to look at. */
export function hostIdentity(): string {
  ownHost ??= `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)}-${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''}`;
  return ownHost;
}

export const uptime = (): number => Number(readFileSync('/proc/uptime', 'latin1').split(' ', 1)[0]);

export class KeptFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Throws where it cannot be written, or where there is one. */
  static make(root: string, id: string, made: { start: KeptStart; worker: string; spares: KeptSpares }): KeptFolder {
    const { start, worker, spares } = made;
    const host = join(root, hostIdentity());
    mkdirSync(host, { recursive: true, mode: 0o700 });
    const path = join(host, id);
    const prepared = spares.prepare(host, 'started', JSON.stringify({ ...start, worker }));
    crashPoint('process.noted', start);
    try {
      renameSync(prepared, path);
    } catch (error) {
      rmSync(prepared, { recursive: true, force: true });
      throw error;
    }
    crashPoint('process.made', start);
    return new KeptFolder(path);
  }

  /** Of this host first, else of an earlier boot or of another that shares the home. */
  static find(root: string, id: string): KeptFolder | null {
    const own = hostIdentity();
    const hosts = [own, ...namesIn(root).filter((name) => name !== own)];
    const host = hosts.find((name) => existsSync(join(root, name, id)));
    return host === undefined ? null : new KeptFolder(join(root, host, id));
  }

  /** Whether somebody of this host died while it made one: nothing of it has begun. */
  static isUnmade(root: string, { handle, key }: Pick<KeptStart, 'handle' | 'key'>): boolean {
    const host = join(root, hostIdentity());
    return allNamesIn(host).some((name) => {
      const start = name.endsWith(SPARE) ? new KeptFolder(join(host, name)).start : null;
      return start?.handle === handle && start.key === key;
    });
  }

  /** Of whoever died while it removed one, and hosts of which nothing is left. */
  static sweep(root: string): void {
    for (const host of namesIn(root)) {
      const path = join(root, host);
      for (const name of allNamesIn(path))
        if (name.endsWith(GONE) || isForgotten(path, name)) rmSync(join(path, name), { recursive: true, force: true });
      if (host === hostIdentity()) continue;
      try {
        rmdirSync(path);
      } catch {
        // Something is kept in it.
      }
    }
  }

  static all(root: string): KeptFolder[] {
    return namesIn(root).flatMap((host) => namesIn(join(root, host)).map((id) => new KeptFolder(join(root, host, id))));
  }

  /** Null where somebody else has written there. */
  get start(): KeptStart | null {
    return this.#started;
  }

  get #started(): z.infer<typeof Started> | null {
    try {
      return Started.parse(JSON.parse(this.#read('started')));
    } catch {
      return null;
    }
  }

  /** Whether it was made where pids mean the same as here. */
  get isOfThisHost(): boolean {
    return basename(dirname(this.path)) === hostIdentity();
  }

  get isThere(): boolean {
    return existsSync(this.path);
  }

  get keeper(): Keeper | null {
    const [boot, space, pid, start] = this.#read('who').trim().split(' ');
    if (boot === undefined || space === undefined || pid === undefined || start === undefined) return null;
    return { host: `${boot}-${space}`, pid: Number(pid), start };
  }

  get outcome(): Outcome | null {
    const match = /^exit (\d+) ([\d.]+) (open|closed) *\n$/.exec(this.#read('outcome'));
    if (match === null) return null;
    return { status: Number(match[1]), endedAt: Number(match[2]), isOpen: match[3] === 'open' };
  }

  /** Whether something holds its output open though it has ended, as a child in the background does. */
  get isHeldOpen(): boolean {
    return this.outcome?.isOpen === true && !existsSync(join(this.path, 'closed'));
  }

  /** Whose it is; null where nobody ever had it. */
  get latestClaim(): Claim | null {
    const numbers = namesIn(this.path).flatMap((name) => Number(CLAIM.exec(name)?.[1] ?? Number.NaN) || []);
    const number = Math.max(0, ...numbers);
    if (number > 0) return { number, worker: workerIn(join(this.path, `claim-${number}`)) };
    const started = this.#started;
    return started === null ? null : { number: started.attempt, worker: started.worker };
  }

  /** False where somebody has this one, or a later one. A link, which a full disk has room for, and which is there whole. */
  claim({ number, worker }: Claim): boolean {
    const latest = this.latestClaim;
    if (latest !== null && latest.number >= number) return false;
    try {
      symlinkSync(worker, join(this.path, `claim-${number}`));
    } catch (error) {
      if (isErrno(error, 'EEXIST')) return false;
      throw error;
    }
    return this.latestClaim?.number === number;
  }

  get reason(): string | null {
    return this.#read('reason').trim() || null;
  }

  /** Before it is ended, so that whoever finds its outcome knows what it means; the first reason stays, and what has ended needs none. */
  because(reason: string): void {
    if (this.outcome !== null) return;
    try {
      writeFileSync(join(this.path, 'reason'), `${reason}\n`, { flag: 'wx', mode: 0o600 });
    } catch {
      // There is one, or the disk is full: then only this worker knows.
    }
  }

  /** What its keeper may give back to the disk. */
  noteRead(out: number, err: number): void {
    try {
      writeFileSync(join(this.path, 'read'), `${out} ${err}\n`, { mode: 0o600 });
    } catch {
      // A full disk gets no emptier by this.
    }
  }

  notePlaces(places: KeptPlaces): void {
    writeFileSync(join(this.path, 'places'), JSON.stringify(places), { mode: 0o600 });
  }

  get places(): KeptPlaces | null {
    try {
      return Places.parse(JSON.parse(this.#read('places')));
    } catch {
      return null;
    }
  }

  /** Open at both ends for who inherits it, so that a worker that dies opens nothing by its end. */
  makeGate(): number {
    const path = join(this.path, 'gate');
    if (!existsSync(path)) execFileSync(findHelper('mkfifo') ?? 'mkfifo', [path], { env: helperEnvironment() });
    return openSync(path, constants.O_RDWR);
  }

  openGate(gate: number): void {
    writeFileSync(join(this.path, 'begun'), '', { mode: 0o600 });
    crashPoint('process.let-run');
    writeSync(gate, 'g');
  }

  /** Whether its program may have run; one that waits goes on. */
  get hasBegun(): boolean {
    const gate = join(this.path, 'gate');
    if (!existsSync(gate)) return true;
    if (!existsSync(join(this.path, 'begun'))) return false;
    const opened = openSync(gate, constants.O_RDWR | constants.O_NONBLOCK);
    writeSync(opened, 'g');
    closeSync(opened);
    return true;
  }

  /** As before it was started: what was, has not run. */
  reset(): void {
    for (const name of ['who', 'outcome', 'outcome.new', 'closed', 'reason'])
      rmSync(join(this.path, name), { force: true });
    for (const name of ['out', 'err']) truncateSync(join(this.path, name), STREAM_START);
  }

  /** To be given to its keeper, and closed. */
  openOutput(name: 'out' | 'err'): number {
    const opened = openSync(join(this.path, name), 'a', 0o600);
    writeSync(opened, '\0'.repeat(STREAM_START));
    return opened;
  }

  /** Its file. */
  writeInput(text: Buffer): string {
    const path = join(this.path, 'in');
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  openInput(): number {
    return openSync(join(this.path, 'in'), 'r');
  }

  /** A value that is too large for an argument, as a file. */
  writeValue(name: string, value: string): string {
    const values = join(this.path, 'values');
    mkdirSync(values, { recursive: true, mode: 0o700 });
    writeFileSync(join(values, name), value, { mode: 0o600 });
    return join(values, name);
  }

  close(descriptors: readonly number[]): void {
    for (const descriptor of descriptors) closeSync(descriptor);
  }

  /** The start of what it printed. */
  said(name: 'out' | 'err'): string {
    return this.#read(name).slice(STREAM_START, 1_000);
  }

  /** How far `out` and `err` were read, where its watcher has said so. */
  get readBytes(): { stdout: number; stderr: number } {
    const [stdout = 0, stderr = 0] = this.#read('read').trim().split(' ').map(Number);
    return { stdout, stderr };
  }

  /** Its process is over, and nobody will ask for it: what it lay in may serve another. */
  giveTo(spares: KeptSpares): void {
    if (!spares.give(this.path, this.keeper?.pid)) this.remove();
  }

  /** It is gone at once for whoever looks for it, whatever comes of its files. */
  remove(): void {
    const gone = `${this.path}${GONE}`;
    try {
      rmSync(gone, { recursive: true, force: true });
      renameSync(this.path, gone);
      rmSync(gone, { recursive: true, force: true });
    } catch {
      // Somebody else removes it, or has.
    }
  }

  #read(name: string): string {
    try {
      return readFileSync(join(this.path, name), 'utf8');
    } catch {
      return '';
    }
  }
}

function workerIn(claim: string): string {
  try {
    return readlinkSync(claim);
  } catch {
    return '';
  }
}

const namesIn = (folder: string): string[] =>
  allNamesIn(folder).filter((name) => !name.endsWith(GONE) && !name.endsWith(SPARE));

/** A spare folder of a worker that is no more, or one that has waited for long. */
function isForgotten(host: string, name: string): boolean {
  if (!name.endsWith(SPARE)) return false;
  const { mtimeMs } = statSync(join(host, name), { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return Date.now() - mtimeMs > SPARE_MS;
}

function allNamesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
