/**
 * A thread beside the worker's event loop, which goes on when the loop does not. Where the loop has not answered for
 * too long it says so, notes the steps that the worker was at, and ends the process, so that the supervisor (or
 * whatever else runs it) starts another. It counts its own ticks and not the time of day: a process that was stopped,
 * or a machine that slept, stops this thread as well, and is not taken for a loop that hangs.
 *
 * It also keeps in the home which steps the worker is at, and whether its memory is running out: then V8 or the
 * system may end the process at any moment, and no code of it runs any more.
 */
import { writeSync } from 'node:fs';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { forgetAtWork, noteAtWork } from '../../services/supervisor/steps-at-work.ts';
import type { StepUnderWay } from '../../services/supervisor/worker-process.ts';
import { atText, loopLine, SILENT_SAID_MS, type LoopLine } from '../../services/supervisor/worker-loop.ts';
import type { Told, WatchParts } from './loop-watch.ts';

const TICK_MS = 250;
const NOTE_MAX_MS = 5_000;
/** Of the heap that V8 allows, and of the memory that the process may have. */
const SPENT = 0.75;

const { beats, silentMs, databaseUrl, home, process: identity, heapBytesMax } = workerData as WatchParts;
const said = new Float64Array(beats);
const steps = new Map<number, StepUnderWay>();
let [seen, silentFor, wasSilent] = [-1, 0, false];
/** What the process has beside the heap of its event loop, by the latest beat. */
let bytesBeside = Infinity;
/** What was there at the last tick: a step that is shorter is not written down. */
let [before, noted]: [ReadonlySet<number>, string] = [new Set(), ''];

parentPort?.on('message', (told: Told) => {
  if ('step' in told) steps.set(told.id, told.step);
  else steps.delete(told.id);
});

const timer = setInterval(() => {
  const beat = said[0] ?? 0;
  silentFor = beat === seen ? silentFor + TICK_MS : 0;
  seen = beat;
  const isSilent = silentFor >= SILENT_SAID_MS;
  if (isSilent !== wasSilent) say(isSilent ? 'silent' : 'answers');
  wasSilent = isSilent;
  keep(isMemorySpent());
  if (silentFor < silentMs) return;
  clearInterval(timer);
  void endWorker([...steps.values()]);
}, TICK_MS);

/** Writes only what has changed. Where the memory is spent, also of the steps that have just begun. */
function keep(isLost: boolean): void {
  const lasting = [...steps].filter(([id]) => isLost || before.has(id)).map(([, step]) => step);
  before = new Set(steps.keys());
  const now = JSON.stringify([isLost, lasting]);
  if (now === noted) return;
  noted = now;
  noteAtWork(home, { ...identity, isLost, steps: lasting });
}

/** A loop that is busy says nothing of its heap; what the process has got since then counts as heap. */
function isMemorySpent(): boolean {
  const bytes = process.memoryUsage.rss();
  if (silentFor === 0) bytesBeside = bytes - (said[1] ?? 0);
  const allowed = process.constrainedMemory() || Infinity;
  return bytes - bytesBeside > SPENT * heapBytesMax || bytes > SPENT * Math.min(allowed, totalmem());
}

async function endWorker(at: readonly StepUnderWay[]): Promise<void> {
  const during = at.length === 0 ? '' : `,${atText({ steps: at })}`;
  say('ended');
  write(
    `sentinel worker: the event loop has not answered for ${silentMs / 1000} s${during}; the worker ends, so that another begins`,
  );
  // Where the database does not answer, the next worker tells it.
  noteAtWork(home, { ...identity, isLost: true, steps: [...at] });
  const isNoted = await Promise.race([note(at).catch(() => false), sleep(NOTE_MAX_MS, false)]);
  if (isNoted) forgetAtWork(home, identity.pid);
  process.kill(process.pid, 'SIGKILL');
}

function say(loop: LoopLine['loop']): void {
  const seconds = silentFor / 1000;
  write(loopLine({ loop, pid: process.pid, at: Date.now(), seconds, steps: [...steps.values()] }));
}

/** The streams of a thread go through the loop that does not answer. */
function write(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // Nobody reads it, which is no reason to go on.
  }
}

async function note(at: readonly StepUnderWay[]): Promise<true> {
  if (at.length === 0) return true;
  // A thread that only watches needs none of it.
  const { openStore } = await import('../../prisma/store/open-store.ts');
  await openStore({ url: databaseUrl, poolSize: 1 }).lostSteps.add(at);
  return true;
}
