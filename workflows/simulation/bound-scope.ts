/** A part of a strand within a time, in simulated time (Host.bound). */
import type { Flow, Strand } from '../interpreter/host.ts';
import { Scope, type Simulation } from './simulation.ts';

export async function boundScope(
  simulation: Simulation,
  strand: Strand,
  leftMs: () => number,
  untilRunning: (timer: Scope) => Promise<void>,
  walk: () => Promise<Flow>,
): Promise<Flow> {
  const scope = new Scope(strand.shield === undefined ? simulation.scope : undefined);
  const timer = new Scope();
  void untilLate(simulation, leftMs, untilRunning, timer).then((isLate) => {
    if (!isLate) return;
    strand.cancelled = true;
    scope.cancel();
  });
  try {
    return await simulation.within(scope, walk);
  } finally {
    timer.cancel();
  }
}

async function untilLate(
  simulation: Simulation,
  leftMs: () => number,
  untilRunning: (timer: Scope) => Promise<void>,
  timer: Scope,
): Promise<boolean> {
  for (let left = leftMs(); left > 0; left = leftMs()) {
    if (!(await simulation.after(left, timer))) return false;
    await untilRunning(timer);
  }
  return !timer.cancelled;
}
