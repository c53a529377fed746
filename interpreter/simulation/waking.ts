/** Those of one scripted run who wait until something has happened, or until a time. */
import type { Scope, Simulation } from './simulation.ts';

export class Waking {
  private readonly simulation: Simulation;
  private waiting: (() => void)[] = [];

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  untilWoken(scope: Scope | undefined, untilMs: number | null = null): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      scope?.onCancel(resolve);
      if (untilMs !== null) this.simulation.schedule(Math.max(0, untilMs - this.simulation.now), resolve);
    });
  }

  wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
