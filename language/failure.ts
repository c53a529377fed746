/**
 * A failure is the world saying no: it belongs to one step, follows the step's `onError`, and only
 * then ends the run. It is data everywhere except inside an activity, where it is thrown as
 * `Failure` (world/failures/failures.ts).
 */
import { HELD_BACK } from './held-back.ts';
import { SHELL_COMMAND } from './catalogue.ts';
import type { JsonObject } from './json.ts';
import type { Definition, Step } from './model.ts';
import { isRetryable, type StatedFailures } from './stated-failures.ts';

export interface FailureInfo {
  /** One of ours, e.g. `SHELL_NOT_STARTED`, each with its words in docs/failures.md; or that of a step of type `fail`. */
  code: string;
  /** One sentence: place, finding, remedy. */
  message: string;
  /** True when trying again may help. */
  retryable: boolean;
  details?: JsonObject;
  /** The persona has been asked about it, and let it stand: nobody is asked again. */
  asked?: true;
}

/** What a provider refuses until a person has done something about it: no wait and no attempt cures it. */
export const HOLDS: ReadonlySet<string> = new Set(['MODEL_SPEND_LIMIT', 'MODEL_NOT_ALLOWED']);

/** A code after which an attempt more ends the same, whatever the step: the definition got it wrong, or a persona decided. */
export const isPermanent = ({ code }: Pick<FailureInfo, 'code'>): boolean =>
  Object.hasOwn(FAILURE_CODES, code) && !isRetryable(FAILURE_CODES[code as FailureCode]);

/** Runs a process and has its exit code in its result. */
export function isShell(step: Step): boolean {
  if (step.type === 'shell') return true;
  return step.type === 'command' && step.command === SHELL_COMMAND && step.params?.['wait'] !== false;
}

/** Whether an exit code other than 0 is a failure of the step; `defaults`: of the definition that it is in. */
export function failsByExitCode(step: Step, defaults: Definition['defaults']): boolean {
  if (!isShell(step)) return false;
  const own = 'failOn' in step ? step.failOn : undefined;
  return (own ?? defaults?.shell?.failOn) === 'nonzero';
}

/** A definition that is written inside another has the defaults of that one where it has none of its own. */
export function withDefaults(inner: Definition, around: Definition['defaults']): Definition {
  const failOn = inner.defaults?.shell?.failOn ?? around?.shell?.failOn;
  return failOn === inner.defaults?.shell?.failOn ? inner : { ...inner, defaults: { shell: { failOn } } };
}

/** Of what has not begun, because it is not its turn: it waits, and is done then. */
export const isHeldBack = ({ code }: Pick<FailureInfo, 'code'>): boolean => HELD_BACK.has(code);

/** A persona ended the run here: no `onError` and no retry stands against it. */
export const isAbort = ({ code }: FailureInfo): boolean => code === 'RUN_ABORTED';

/** Every code that a step can fail with or be warned of, but for those that commands state (catalogue.ts); each has its words in docs/failures.md. */
export const FAILURE_CODES = {
  ACTIVITY_FAILED: 'A step ended in a way that has no code of its own',
  ACTION_CHANGED: 'What an approved step would do is no longer what was shown',
  ANSWER_REFUSED: 'A run does not take an answer',
  APPROVAL_EXPIRED: 'Nobody answered in time',
  APPROVAL_REJECTED: { title: 'A persona rejected an action or an approval step', retryable: false },
  CALL_OUTCOME_UNKNOWN: 'It is not known whether a call of a model took effect',
  CALL_REPEATED: 'A call of a model was made again',
  CANCELLED_BY_FORCE: 'A run was ended by force, without its clean-up',
  CASSETTE_MISS: 'A cassette does not hold a request of a replay',
  CHILD_FAILED: 'A nested sentinel failed',
  CIRCUIT_OPEN: 'A tool is not called for a while after several failures in a row',
  CLEAN_UP_FAILED: 'A clean-up failed after the run or condition had already ended badly',
  COMMAND_NOT_BUILT: { title: 'The command is part of the format but not built yet', retryable: false },
  COMMAND_PARAMS_INVALID: { title: 'A command got parameters it does not accept', retryable: false },
  COMMAND_PROCESS_ENDED: "The process of a project's command ended before the command had a result",
  COMMAND_RESULT_INVALID: "The result of a project's command does not match its own schema",
  DEFINITION_INVALID: {
    title:
      'A definition that a step took from a variable has problems, or a run was started with one that nothing has read',
    retryable: false,
  },
  EDIT_BEHIND: 'An edit came after a lost worker had already done the steps ahead',
  EDIT_INVALID: 'An edit would make the definition of a run invalid',
  EDIT_STALE: 'An edit was made for an earlier revision of the steps',
  EVENT_NAME_INVALID: { title: 'The name of an event to wait for is not valid', retryable: false },
  EVENT_RESERVED: { title: 'A step tried to publish an event that says where it is from', retryable: false },
  EVENT_NOT_STATED: 'A command published an event that its system does not state',
  EXECUTION_NOT_FOUND: { title: 'There is no background process with that execution id', retryable: false },
  EXPORT_INVALID: { title: 'What was exported is not whole', retryable: false },
  EXPORT_SECRET: { title: 'What is to be exported holds a secret', retryable: false },
  EXPORT_UNTRUSTED: { title: 'An export is signed by an unknown key', retryable: false },
  EXPORT_VERSION: { title: 'An export is of another version of the format', retryable: false },
  EXPRESSION_FAILED: 'An expression could not be evaluated',
  FAILURE_NOT_STATED: 'A command failed with a code that nobody states',
  FILE_CHANGED: 'A file was changed by somebody else while a step edited it',
  FILE_NOT_FOUND: 'A file to read does not exist',
  FILE_NOT_TEXT: 'A file that was read as text is not text',
  FILE_NOT_USABLE: 'A file could not be read or written',
  GIT_FAILED: 'Git refused an operation',
  GROUP_HELD: 'Another run has the group that the run needs',
  GROUP_INVALID: { title: 'The name of the group of a run cannot be used', retryable: false },
  HELD_AT_LIMIT: 'A run is held at a limit, which only a person extends',
  INPUT_REFUSED: 'A run was given inputs that its definition does not take',
  JOIN_INVALID: { title: 'The handles that a `join` step waits for are not runs', retryable: false },
  LIST_INVALID: 'The value that a parallel step iterates over is not a list',
  LEASE_REFUSED: 'A command asked for a lease in a way that it cannot have it',
  LOOP_BOUND_INVALID: 'The number of passes of a loop could not be read',
  LOOP_LIMIT_REACHED: 'A loop inside a run ended at its limit',
  MCP_NOT_ACCEPTED: 'The tools of an MCP server are not those that a person accepted',
  MCP_TOOL_FAILED: 'A tool of an MCP server said that it failed',
  MCP_UNREACHABLE: 'An MCP server could not be started or reached, or went away',
  MEMORY_LIMIT: 'The processes of a step held more memory than allowed',
  MODEL_ANSWER_BROKEN: 'A model gave an answer that cannot be read',
  MODEL_ANSWER_INVALID: "A model's answer does not fit the schema of its step",
  MODEL_ANSWER_TOO_LARGE: "A model's answer is larger than a run can hold",
  MODEL_CALLS_WRONG: 'A model called commands wrongly several times in a row',
  MODEL_CONTENT_REFUSED: { title: 'A model or its provider declined to answer', retryable: false },
  MODEL_CONTEXT_TOO_LONG: { title: 'A conversation is longer than the window of its model', retryable: false },
  MODEL_LAYER_IN_TRAINING: 'A layer that a model is to be used with is still in training',
  MODEL_NOT_ALLOWED: { title: 'A provider does not accept its key', retryable: false },
  MODEL_NOT_FOUND: { title: 'A model cannot be found', retryable: false },
  MODEL_OVERLOADED: 'A provider is overloaded',
  MODEL_RATE_LIMITED: 'A provider asks to wait',
  MODEL_REDIRECTED: { title: 'A provider sends requests on to another server', retryable: false },
  MODEL_REQUEST_REFUSED: { title: 'A provider refused a request', retryable: false },
  MODEL_SPEND_LIMIT: { title: 'An account with a provider has reached its limit', retryable: false },
  MODEL_STUCK: 'A model turned in circles',
  MODEL_TURNS_SPENT: 'A model had not answered when its turns were used up',
  MODEL_UNREACHABLE: 'A provider cannot be reached',
  MODEL_UNSUPPORTED: { title: 'A model lacks what a step needs', retryable: false },
  MODE_FORBIDS: "The run's mode does not allow what a step does",
  NESTING_TOO_DEEP: { title: 'Sentinels are nested deeper than allowed', retryable: false },
  NOT_SEALED: 'Something reached a run, or came from one, without a seal of this installation',
  NO_MODEL_STEP: 'No model is at work in the run, or several are',
  OUTPUT_TRUNCATED: 'The result of a step holds the start and the end of what its process printed',
  PATH_NOT_USABLE: 'A path could not be resolved',
  PATH_OUTSIDE_PROJECT: { title: "A path leads out of the run's project", retryable: false },
  PATH_PROTECTED: 'A path leads to a protected file or folder',
  PERSONA_BUDGET_SPENT: 'A step waits, because its persona has used what it may use in a day',
  POLICY_REFUSED: { title: "A rule of the run's policy refuses what a step does", retryable: false },
  PROJECT_MISSING: "The run's project is not on this host",
  QUESTION_UNKNOWN: 'A run does not ask this question',
  RATE_LIMITED: 'A step waits, because the limit of its tool is reached',
  RECORD_REFUSED: 'The database refuses the records of a run',
  RIGHTS_EXCEEDED: { title: 'A model tried to exceed its rights through a run or a definition', retryable: false },
  RUN_ABORTED: { title: 'A persona ended the run at a question', retryable: false },
  RUN_ENDED: 'A run that has ended cannot be paused, resumed, edited, told or answered anything',
  RUN_LOST: 'The workflow of a run was terminated or timed out in Temporal',
  RUN_NOT_FOUND: 'There is no run with that handle',
  RUN_NOT_STARTED: 'A run could not be started',
  SANDBOX_CHANGED: 'What a sandbox shows of a project changed while it was made',
  SANDBOX_NOT_AVAILABLE: 'A sandboxed step cannot run on this worker',
  SECRET_GONE: 'The value of a secret environment variable is no longer kept',
  SHELL_ARGUMENT_TOO_LARGE: 'An argument or variable is too large for a process',
  SHELL_EXIT_NONZERO: 'A process ended with a code other than 0, and its step fails then',
  SHELL_NOT_STARTED: 'A process could not be started',
  SHELL_OUTCOME_UNKNOWN: 'It is not known what came of the process of a step',
  SHELL_ORPHAN_ALIVE: 'A process of an earlier attempt does not end',
  SHELL_REPEATED: 'A shell step was run again, and may have been done before',
  SLEEP_INVALID: { title: 'The duration or time of a `sleep` step is not valid', retryable: false },
  STATEMENT_REFUSED: 'The database refused a statement of a system',
  STEP_LOST_WORKERS: 'Three workers were lost while they were at a step',
  STEP_FAILED: 'A step of type `fail` was reached, and it has no code',
  STEP_NOT_FOUND: 'An edit names a place that the definition does not have',
  STEP_PAST: 'An edit names a step that is past and will not be reached again',
  STEP_TIMEOUT: 'A step ran longer than its timeout',
  STEP_UNDER_WAY: 'An edit names a step that is under way',
  STORE_UNAVAILABLE: 'The database does not answer',
  SYSTEM_UNUSABLE: 'A system of the project cannot be used',
  TELL_INVALID: 'A model cannot be told that',
  UNDO_REFUSED: 'An undo cannot be done',
  UNKNOWN_COMMAND: { title: 'There is no command with that name', retryable: false },
  UNKNOWN_DEFINITION: {
    title: 'A `$ref` or a variable names a definition that is not available to the run',
    retryable: false,
  },
  UNRESOLVED_REFERENCE: 'A reference has no value where it is used',
  VALUE_TOO_LARGE: { title: 'A value is larger than a run can hold', retryable: false },
  VALUE_NOT_JSON: { title: 'A value is none that JSON can say', retryable: false },
  WORKSPACE_DIRTY: 'A work tree that is merged into holds changes of its own',
  WORKSPACE_GONE: { title: 'The folder of a workspace is not there any more', retryable: false },
  WORKSPACE_NOT_FOUND: { title: 'There is no such workspace or branch', retryable: false },
  WORKSPACE_REFUSED: { title: 'A workspace cannot be made, merged or forked as asked', retryable: false },
  WORKSPACE_TAKEN: { title: 'The branch of a workspace is taken', retryable: false },
  WORKSPACE_UNMERGED: { title: 'A workspace holds work that is nowhere else', retryable: false },
} as const satisfies StatedFailures;

export type FailureCode = keyof typeof FAILURE_CODES;
