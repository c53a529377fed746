/** A nested run that stands still, or goes on, tells the run around it, which does so with it (interpreter/stillness.ts). */
import { CancellationScope, defineSignal, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { NestedStillness, toTellAround } from '../../interpreter/stillness.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { SIGNALS, workflowIdOf } from '../messages/messages.ts';
import { lastInTurn } from '../replay-order/last-in-turn.ts';
import type { Admission } from '../seal/admission.ts';
import { nestedMessage, type NestedWord } from '../seal/control-message.ts';

export class Around {
  /** Handles of nested runs that are under way and awaited. */
  readonly nested = new Set<string>();
  private readonly stillness = new NestedStillness();
  private readonly walk: Walk;

  constructor(walk: Walk) {
    this.walk = walk;
  }

  listen(admission: Admission): void {
    setHandler(defineSignal<unknown[]>(SIGNALS.nested), async (...received) => {
      const args = admission.takeSignal(SIGNALS.nested, received);
      if (args === null) return;
      await lastInTurn(
        this.walk,
        () => undefined,
        () => this.hear(...(args as NestedWord)),
      );
    });
  }

  private hear(...[handle, told]: NestedWord): void {
    if (!this.nested.has(handle)) return;
    this.stillness.hear(this.walk, handle, told);
    this.walk.host.suspended();
  }

  ended(handle: string): void {
    this.nested.delete(handle);
    this.stillness.ended(this.walk, handle);
  }

  tell(): void {
    const { handle, parent } = this.walk.input;
    const told = toTellAround(this.walk);
    if (parent === null || told === null) return;
    const around = getExternalWorkflowHandle(workflowIdOf(parent));
    // Where a part of the run is cancelled, the run goes on, and the word is not said again.
    CancellationScope.nonCancellable(() => around.signal(SIGNALS.nested, nestedMessage(handle, told))).catch(
      () => undefined,
    );
  }
}
