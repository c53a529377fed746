/**
 * Edits of a run's steps, as an update whose validator refuses what cannot be done
 * (interpreter/edits.ts). What needs the reader is asked of a local activity: zod never enters
 * workflow code. An edit waits until no segment is in flight, and no segment starts while one waits;
 * nor is one made before the run has come past what a lost worker had done: those steps have their keys.
 */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import { CHECK_EDIT, IS_BEHIND, type EditCheck } from '../../interpreter/contract.ts';
import type { RunStatus } from '../../language/events/run-event.ts';
import { answerOptions } from './activity-options.ts';
import {
  editRefusal,
  isSegmentInFlight,
  takeEdit,
  type CheckedStep,
  type EditReply,
  type EditRequest,
  listSteps,
  type StepList,
} from '../../interpreter/edits.ts';
import type { Gate } from '../../interpreter/host.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { changed, lastInTurn } from '../replay-order/last-in-turn.ts';
import { askLocally } from '../replay-order/local-activity.ts';
import { EDIT, QUERIES } from '../messages/messages.ts';
import type { Updates } from '../replay-order/updates.ts';

/** A lost worker had come a few segments further, never many: each workflow task has a bound. */
const turnsMax = 20;
const movesOnMs = 2000;

export class Editing {
  private waiting = 0;
  private readonly walk: Walk;
  private readonly run: { readonly ended: RunStatus | null };

  /** Registers the handlers, so before the first step. */
  constructor(walk: Walk, run: { readonly ended: RunStatus | null; readonly updates: Updates }) {
    this.walk = walk;
    this.run = run;
    run.updates.on<EditReply, [EditRequest]>(
      EDIT,
      (request) =>
        CancellationScope.nonCancellable(() =>
          lastInTurn(
            this.walk,
            () => this.refuse(request),
            () => this.edit(request),
          ),
        ),
      {
        validator: (request: EditRequest) => this.refuse(request),
        description: 'Change the steps that are still ahead',
      },
    );
    setHandler(defineQuery<StepList>(QUERIES.steps), () => listSteps(this.walk), {
      description: 'Its steps, as edited, and how each stands',
    });
  }

  /** Lets a segment start, once no edit waits any more. */
  segmentGate(): 'segment' | Promise<Gate> {
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
    if (ended !== null)
      throw ApplicationFailure.nonRetryable(
        `${this.walk.input.handle} has ended (${ended}); there is nothing to edit`,
        'RUN_ENDED',
      );
    const refusal = editRefusal(this.walk, request);
    if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
  }

  private async edit(request: EditRequest): Promise<EditReply> {
    const checked = await this.checked(request);
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const reply = await this.inTurn(request, checked);
      if (reply !== null) return reply;
      if (!(await this.movesOn())) break;
    }
    const { handle } = this.walk.input;
    const message = `steps of ${handle} that are ahead were done already by a worker that was lost; let the run go on past them, and edit it then`;
    throw ApplicationFailure.nonRetryable(message, 'EDIT_BEHIND');
  }

  /** Null where the run has to go on before it can be edited. */
  private async inTurn(request: EditRequest, checked: CheckedStep): Promise<EditReply | null> {
    const { walk } = this;
    this.waiting += 1;
    try {
      await condition(() => !isSegmentInFlight(walk));
      if (await askLocally<boolean>(walk, IS_BEHIND, [walk.position.seq], answerOptions)) return null;
      // Another edit, or the run itself, may have come before it.
      this.refuse(request);
      const reply = takeEdit(walk, request, checked);
      changed(walk);
      walk.host.suspended();
      return reply;
    } finally {
      this.waiting -= 1;
    }
  }

  /** Whether the run comes to the next of its steps soon. */
  private async movesOn(): Promise<boolean> {
    const { position } = this.walk;
    const { seq, paused } = position;
    return paused === null && condition(() => position.seq > seq, movesOnMs);
  }

  private async checked(request: EditRequest): Promise<CheckedStep> {
    const { op, path, step = null } = request;
    if (op === 'skip') return { step: null, catalogue: {} };
    const { definition, library } = this.walk.input;
    const check = await askLocally<EditCheck>(
      this.walk,
      CHECK_EDIT,
      [definition, library, { op, path, step }],
      answerOptions,
    );
    if ('problems' in check)
      throw ApplicationFailure.nonRetryable(
        `the steps would not be valid: ${check.problems.join('; ')}`,
        'EDIT_INVALID',
      );
    return check;
  }
}
