/** Four deaths under one training, at moments that the seed chooses: of the trainer, its worker, Temporal and Postgres. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Draw, shuffled } from './facts.ts';
import { type Installation, type Target, TARGETS } from './installation.ts';

const lookMs = 50;
/** Whoever was killed just now is back by then. */
const backMaxMs = 3 * 60_000;

export interface Kill {
  target: Target;
  /** The newest checkpoint when it died. */
  step: number;
  pid: number;
  atMs: number;
}

/** `steps`: of the whole training. Fails where the training ends before all of them. */
export async function killAll(
  installation: Installation,
  { steps, draw, isOver }: { steps: number; draw: Draw; isOver: () => boolean },
): Promise<Kill[]> {
  const began = Date.now();
  const kills: Kill[] = [];
  for (const [index, target] of shuffled(TARGETS, draw).entries()) {
    const least = steps * (0.1 + 0.18 * (index + draw()));
    const restMs = draw() * 500;
    await until(() => (installation.checkpoint() ?? -1) >= least, isOver, Number.POSITIVE_INFINITY);
    await sleep(restMs);
    let pid: number | null = null;
    await until(() => (pid = installation.kill(target)) !== null, isOver, backMaxMs);
    kills.push({ target, step: installation.checkpoint() ?? 0, pid: pid ?? 0, atMs: Date.now() - began });
    process.stderr.write(`killed ${target} (${pid}) after checkpoint ${installation.checkpoint()} of ${steps}\n`);
  }
  return kills;
}

async function until(isSo: () => boolean, isOver: () => boolean, withinMs: number): Promise<void> {
  for (const began = Date.now(); !isSo(); await sleep(lookMs)) {
    if (isOver()) throw new Error('the training was over before all four were killed');
    if (Date.now() - began > withinMs) throw new Error('what was to be killed did not come back');
  }
}
