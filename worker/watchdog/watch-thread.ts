/**
 * A thread beside the worker's event loop, which goes on when the loop does not. Where the loop has not answered for
 * too long it says so, notes the steps that the worker was at, and ends the process, so that the supervisor (or
 * whatever else runs it) starts another. It counts its own ticks and not the time of day: a process that was stopped,
 * or a machine that slept, stops this thread as well, and is not taken for a loop that hangs.
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { StepUnderWay } from '../../services/supervisor/worker-process.ts';
import { atText, loopLine, SILENT_SAID_MS, type LoopLine } from '../../services/supervisor/worker-loop.ts';
import type { Told, WatchParts } from './loop-watch.ts';

const TICK_MS = 250;
const NOTE_MAX_MS = 5_000;

const { beats, silentMs, databaseUrl } = workerData as WatchParts;
const counted = new Int32Array(beats);
const steps = new Map<number, StepUnderWay>();
let [seen, silentFor, wasSilent] = [-1, 0, false];

parentPort?.on('message', (told: Told) => {
  if ('step' in told) steps.set(told.id, told.step);
  else steps.delete(told.id);
});

const timer = setInterval(() => {
  const beat = Atomics.load(counted, 0);
  silentFor = beat === seen ? silentFor + TICK_MS : 0;
  seen = beat;
  const isSilent = silentFor >= SILENT_SAID_MS;
  if (isSilent !== wasSilent) say(isSilent ? 'silent' : 'answers');
  wasSilent = isSilent;
  if (silentFor < silentMs) return;
  clearInterval(timer);
  void endWorker([...steps.values()]);
}, TICK_MS);

async function endWorker(at: readonly StepUnderWay[]): Promise<void> {
  const during = at.length === 0 ? '' : `,${atText({ steps: at })}`;
  say('ended');
  write(
    `sentinel worker: the event loop has not answered for ${silentMs / 1000} s${during}; the worker ends, so that another begins`,
  );
  await Promise.race([note(at).catch(() => undefined), sleep(NOTE_MAX_MS)]);
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

async function note(at: readonly StepUnderWay[]): Promise<void> {
  if (at.length === 0) return;
  // A thread that only watches needs none of it.
  const { openStore } = await import('../../prisma/store/open-store.ts');
  await openStore({ url: databaseUrl, poolSize: 1 }).lostSteps.add(at);
}
