/** Every code a step can fail with; each has a page in docs/failures/. */
export const FAILURE_CODES = {
  CHILD_FAILED: 'A nested sentinel failed',
  COMMAND_NOT_BUILT: 'The command is part of the format but not built yet',
  COMMAND_PARAMS_INVALID: 'A command got parameters it does not accept',
  EXPRESSION_FAILED: 'An expression could not be evaluated',
  FILE_NOT_FOUND: 'A file to read does not exist',
  FILE_NOT_TEXT: 'A file that was read as text is not text',
  FILE_NOT_USABLE: 'A file could not be read or written',
  GIT_FAILED: 'Git refused an operation',
  NOT_AVAILABLE: 'A form of a command is not available',
  PATH_NOT_USABLE: 'A path could not be resolved',
  PATH_OUTSIDE_PROJECT: 'A path leads out of the run\'s project',
  PROJECT_MISSING: 'The run\'s project is not on this host',
  RECORD_EXISTS: 'Another record has that id',
  RUN_NOT_FOUND: 'There is no run with that handle',
  RUN_NOT_STARTED: 'A run could not be started',
  SHELL_ARGUMENT_TOO_LARGE: 'An argument or variable is too large for a process',
  SHELL_NOT_STARTED: 'A process could not be started',
  SHELL_ORPHAN_ALIVE: 'A process of an earlier attempt does not end',
  STEP_NOT_AVAILABLE: 'A step type is not available yet',
  STEP_TIMEOUT: 'A step ran longer than its timeout',
  STORE_UNAVAILABLE: 'The database does not answer',
  UNKNOWN_COMMAND: 'There is no command with that name',
  VALUE_TOO_LARGE: 'A value is larger than a run can hold',
} as const;

export type FailureCode = keyof typeof FAILURE_CODES;
