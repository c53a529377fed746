/** Why a step is interrupted: because it is over, or because its worker is, and another attempt goes on with it. */

/** Nothing of the command goes on. */
export class StepOver extends Error {}

/** As Temporal says it of an activity that its workflow has cancelled. */
const CANCELLED = 'CANCELLED';

export const endsStep = (reason: unknown): boolean =>
  reason instanceof StepOver || (reason instanceof Error && reason.message === CANCELLED);
