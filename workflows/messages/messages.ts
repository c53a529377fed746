/**
 * Everything said to a run from outside, and every name under which Temporal knows it. These names
 * are API: runs that are under way depend on them.
 */
import type { Question } from '../../language/events/question.ts';
import type { RunEvent, RunStatus } from '../../language/events/run-event.ts';
import type { AnswerReply, AnswerRequest } from '../../interpreter/questions.ts';
import type { EditReply, EditRequest, StepList } from '../../interpreter/edits.ts';
import type { ToldAround } from '../../interpreter/holds.ts';
import type { Position, Telling } from '../../interpreter/position.ts';
import type { TellReply, TellRequest } from '../../interpreter/models/telling.ts';

export const WORKFLOW_TYPE = 'sentinel';
export const DEFAULT_TASK_QUEUE = 'sentinel';

export { handleOf, workflowIdOf } from '../../interpreter/keys.ts';

/** Updates; each answers with the run's state after it. A validator refuses what cannot be done. */
export const UPDATES = { pause: 'pause', resume: 'resume', stop: 'stop' } as const;

/** Answers an open question; a second answer is told the first. */
export const ANSWER = 'answer';

/** Changes the steps of the run that are still ahead. */
export const EDIT = 'edit';

/** Tells the model of a step that is under way something, before its next turn. */
export const TELL = 'tell';

/**
 * `control`: from a run to those nested in it. `nested`: the way back, from a nested run that stands still or goes on.
 * `event`: one that the run waits for may be there.
 */
export const SIGNALS = { control: 'control', nested: 'nested', event: 'event' } as const;

/** What the failure of a query says that came before the run's task was done. */
export const NOT_YET = 'the run has not come to what happened last; ask again';

export const QUERIES = { status: 'status', trace: 'trace', position: 'position', steps: 'steps' } as const;

export type ControlVerb = keyof typeof UPDATES;

export interface RunState {
  handle: string;
  status: RunStatus;
  /** Why a paused run is held, or what one waits for before its first step. */
  reason: string | null;
  stopping: boolean;
  iteration: number;
  steps: number;
  /** Keys and labels of the steps under way. */
  current: { key: string; label: string }[];
  startedAt: number;
  /** What the run waits to be told. */
  questions: Question[];
  /** Keys of the model steps under way. */
  models: string[];
  /** What models were told and no turn has had yet. */
  told: Pick<Telling, 'id' | 'key' | 'by'>[];
}

export interface Messages {
  /** `by`: who says so, where it is the model of a run, or an agent. */
  pause(reason?: string, by?: string): RunState;
  /**
   * `extendsLimits`: a person grants each limit that holds it once more. Otherwise a run at a limit refuses.
   * `by` lets go on what it has paused itself.
   */
  resume(extendsLimits?: boolean, by?: string): RunState;
  stop(): RunState;
  answer(request: AnswerRequest): AnswerReply;
  edit(request: EditRequest): EditReply;
  tell(request: TellRequest): TellReply;
  /** `word` numbers what the parent says, for nested runs to tell what came too late. */
  control(verb: ControlVerb, word?: number, extendsLimits?: boolean): void;
  nested(handle: string, told: ToldAround): void;
  event(): void;
  status(): RunState;
  /** The latest events recorded by the workflow itself; the store has all. */
  trace(): RunEvent[];
  position(): Position;
  /** The definition as it is now, and how each step of it stands. */
  steps(): StepList;
}
