/**
 * What can be wrong with a definition: a closed set of codes, each with a page in docs/problems/.
 * A problem is a value in a list and is never thrown; its path is the author's own spelling of the
 * place (`steps.2.then.0.params.path`), its message says what was found and what to do.
 */
export const PROBLEMS = {
  FILE_NOT_READABLE: 'The file cannot be read',
  NOT_JSON: 'The text is not JSON',
  TOO_LARGE: 'The definition is too large',
  TOO_MANY_STEPS: 'The definition has too many steps',
  TOO_DEEP: 'The definition is nested too deeply',
  WRONG_TYPE: 'A value has the wrong type',
  MISSING_KEY: 'A key that is needed is missing',
  UNKNOWN_KEY: 'A key is not part of the format',
  CONFLICTING_KEYS: 'Two keys say the same thing',
  WRONG_VALUE: 'A value is not one of those allowed',
  OUT_OF_RANGE: 'A value is too small or too large',
  EMPTY_STEPS: 'A list of steps is empty',
  EMPTY_CONDITION: 'A condition has neither "then" nor "else"',
  UNBOUNDED_LOOP: 'A loop could run for ever',
  BAD_EXPRESSION: 'An expression cannot be read',
  BAD_NAME: 'A variable cannot have this name',
  BAD_PATTERN: 'A pattern cannot be read',
  DUPLICATE_NAME: 'Two steps have the same name',
  UNKNOWN_COMMAND: 'There is no such command',
  COMMAND_NOT_BUILT: 'The command is not available yet',
  STEP_NOT_AVAILABLE: 'The step is not available yet',
  UNKNOWN_REFERENCE: 'Nothing sets this variable',
  UNBOUND_ITEM: 'The array of a loop\'s current item was not found',
  UNKNOWN_DEFINITION: 'There is no definition of this name',
  REFERENCE_CYCLE: 'A definition refers to itself',
  NESTING_TOO_DEEP: 'Sentinels are nested too deeply',
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

export interface Problem {
  code: ProblemCode;
  severity: 'error' | 'warning';
  path: string;
  message: string;
  fix?: string;
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}
