/**
 * What a person tells a model, as an update whose validator refuses what cannot be told
 * (interpreter/models/telling.ts). It waits in the position, so a run that continues as new takes it along.
 */
import { ApplicationFailure } from '@temporalio/workflow';
import { tellRefusal, takeTell, type TellReply, type TellRequest } from '../../interpreter/models/telling.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { TELL } from '../messages/messages.ts';
import { lastInTurn } from '../replay-order/last-in-turn.ts';
import type { Control } from './control.ts';

/** Registers the handler, so before the first step. */
export function listenToTelling(walk: Walk, run: Pick<Control, 'ended' | 'updates' | 'agents'>): void {
  const refuse = (request: TellRequest): void => {
    const { handle } = walk.input;
    if (run.ended !== null)
      throw ApplicationFailure.nonRetryable(
        `${handle} has ended (${run.ended}); there is nothing to tell`,
        'RUN_ENDED',
      );
    if (walk.position.stopping)
      throw ApplicationFailure.nonRetryable(
        `${handle} was told to stop and ends after the steps under way; there is nothing to tell`,
        'RUN_ENDED',
      );
    const refusal = tellRefusal(walk, request);
    if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
  };
  run.updates.on<TellReply, [TellRequest]>(
    TELL,
    (request) =>
      lastInTurn(
        walk,
        () => refuse(request),
        () => {
          const reply = takeTell(walk, request);
          // Turns that follow one another in one activity would hear it late.
          run.agents.handBack();
          walk.host.suspended();
          return reply;
        },
      ),
    { validator: refuse, description: 'Tell the model of a step that is under way something' },
  );
}
