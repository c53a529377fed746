/**
 * Edits of a run's steps, as an update whose validator refuses what cannot be done
 * (interpreter/edits.ts). What needs the reader is asked of a local activity: zod never enters
 * workflow code. An edit waits until no segment is in flight, and no segment starts while one waits.
 */
import { ApplicationFailure, CancellationScope, condition, defineQuery, defineUpdate, isCancellation, scheduleLocalActivity, setHandler } from '@temporalio/workflow';
import { CHECK_EDIT, type EditCheck } from '../activities/contract.ts';
import type { Step } from '../language/model.ts';
import type { RunStatus } from '../language/run-event.ts';
import { answerOptions } from './activity-options.ts';
import { editRefusal, isSegmentInFlight, takeEdit, type EditReply, type EditRequest } from './interpreter/edits.ts';
import type { Gate } from './interpreter/host.ts';
import type { Walk } from './interpreter/ledger.ts';
import { listSteps, type StepList } from './interpreter/step-list.ts';
import { lastInTurn } from './last-in-turn.ts';
import { EDIT, QUERIES } from './messages.ts';

export class Editing {
  private waiting = 0;
  private readonly walk: Walk;
  private readonly run: { readonly ended: RunStatus | null };

  /** Registers the handlers, so before the first step. */
  constructor(walk: Walk, run: { readonly ended: RunStatus | null }) {
    this.walk = walk;
    this.run = run;
    setHandler(defineUpdate<EditReply, [EditRequest]>(EDIT), (request) => CancellationScope.nonCancellable(() => Promise.resolve(lastInTurn(this.walk, () => this.refuse(request), () => this.edit(request)))), {
      validator: (request: EditRequest) => this.refuse(request),
      description: 'Change the steps that are still ahead',
    });
    setHandler(defineQuery<StepList>(QUERIES.steps), () => listSteps(this.walk), { description: 'Its steps, as edited, and how each stands' });
  }

  /** Lets a segment start, once no edit waits any more. */
  segmentGate(): Gate | Promise<Gate> {
    return this.waiting === 0 ? 'segment' : this.untilEdited();
  }

  private async untilEdited(): Promise<Gate> {
    try {
      await condition(() => this.waiting === 0);
      return 'segment';
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return 'cancel';
    }
  }

  private refuse(request: EditRequest): void {
    const { ended } = this.run;
    if (ended !== null) throw ApplicationFailure.nonRetryable(`${this.walk.input.handle} has ended (${ended}); there is nothing to edit`, 'RUN_ENDED');
    const refusal = editRefusal(this.walk, request);
    if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
  }

  private async edit(request: EditRequest): Promise<EditReply> {
    const step = await this.checked(request);
    this.waiting += 1;
    try {
      await condition(() => !isSegmentInFlight(this.walk));
      // Another edit, or the run itself, may have come before it.
      this.refuse(request);
      const reply = takeEdit(this.walk, request, step);
      this.walk.host.suspended();
      return reply;
    } finally {
      this.waiting -= 1;
    }
  }

  /** The step in its canonical form; null where the edit has none. */
  private async checked(request: EditRequest): Promise<Step | null> {
    const { op, path, step = null } = request;
    if (op === 'skip') return null;
    const { definition, library } = this.walk.input;
    const check = await scheduleLocalActivity<EditCheck>(CHECK_EDIT, [definition, library, { op, path, step }], answerOptions);
    if ('problems' in check) throw ApplicationFailure.nonRetryable(`the steps would not be valid: ${check.problems.join('; ')}`, 'EDIT_INVALID');
    return check.step;
  }
}
