/** Parts of a run within a time, in simulated time (Host.bound, Host.isLate). */
import type { Strand } from '../host.ts';
import type { Flow } from '../effect.ts';
import { Scope, type Simulation, type Waking } from './simulation.ts';

export class BoundScopes {
  private readonly simulation: Simulation;
  private readonly waking: Waking;
  private readonly isHeld: () => boolean;

  constructor(simulation: Simulation, waking: Waking, isHeld: () => boolean) {
    this.simulation = simulation;
    this.waking = waking;
    this.isHeld = isHeld;
  }

  async bound(strand: Strand, leftMs: () => number, walk: () => Promise<Flow>): Promise<Flow> {
    const scope = new Scope(strand.shield === undefined ? this.simulation.scope : undefined);
    const timer = new Scope();
    void this.untilLate(leftMs, timer).then((isLate) => {
      if (!isLate) return;
      strand.cancelled = true;
      scope.cancel();
    });
    try {
      return await this.simulation.within(scope, walk);
    } finally {
      timer.cancel();
    }
  }

  isLate(leftMs: () => number, ended: Promise<unknown>): Promise<boolean> {
    const timer = new Scope(this.simulation.scope);
    const cancel = (): void => timer.cancel();
    ended.then(cancel, cancel);
    return this.untilLate(leftMs, timer);
  }

  private async untilLate(leftMs: () => number, timer: Scope): Promise<boolean> {
    for (let left = leftMs(); left > 0; left = leftMs()) {
      if (!(await this.simulation.after(left, timer))) return false;
      while (this.isHeld() && !timer.cancelled) await this.waking.untilWoken(timer);
    }
    return !timer.cancelled;
  }
}
