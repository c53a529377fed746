/**
 * What can be wrong with a definition: a closed set of codes, each with its words in docs/problems.md.
 * A problem is a value in a list and is never thrown; its path is the author's own spelling of the
 * place (`steps.2.then.0.params.path`), its message says what was found and what to do.
 */
export const PROBLEMS = {
  FILE_NOT_READABLE: 'The file cannot be read',
  NOT_JSON: 'The text is not JSON',
  NOT_YAML: 'The text is not YAML',
  YAML_WORD: 'A word is a text that many take for yes or no',
  BAD_JSON_TEXT: 'A text that should hold JSON does not',
  DUPLICATE_KEY: 'An object has the same key twice',
  NUMBER_CHANGES: 'A number would become another one',
  TOO_LARGE: 'The definition is too large',
  TOO_MANY_STEPS: 'The definition has too many steps',
  TOO_DEEP: 'The definition is nested too deeply',
  WRONG_TYPE: 'A value has the wrong type',
  MISSING_KEY: 'A key that is needed is missing',
  UNKNOWN_KEY: 'A key is not part of the format',
  CONFLICTING_KEYS: 'Two keys say the same thing',
  NEVER_FAILS: 'A step that can hardly fail is to be tried again, or to end others',
  KEY_WITHOUT_EFFECT: 'A key has no effect where it stands',
  WRONG_VALUE: 'A value is not one of those allowed',
  OUT_OF_RANGE: 'A value is too small or too large',
  EMPTY_STEPS: 'A list of steps is empty',
  EMPTY_BRANCHES: 'A parallel step has no branches',
  EMPTY_CONDITION: 'A condition has neither "then" nor "else"',
  UNBOUNDED_LOOP: 'A loop could run for ever',
  UNREACHABLE_LIMIT: 'A limit can never be reached',
  BAD_EXPRESSION: 'An expression cannot be read',
  EXPRESSION_AS_TEXT: 'A text looks like an expression',
  BAD_NAME: 'A variable cannot have this name',
  RESERVED_NAME: 'A name already means something else',
  BAD_PATTERN: 'A pattern cannot be read',
  UNREACHABLE_RULE: 'A rule can never be used',
  BAD_EVENT: 'An event cannot have this name',
  EVENT_RESERVED: 'An event is one that only runs publish',
  BAD_CRON: 'A schedule cannot be read',
  BAD_TIME_ZONE: 'There is no such time zone',
  BAD_MODEL: 'A model cannot have this name',
  BAD_SCHEMA: 'A JSON Schema cannot be read',
  BAD_ENV_NAME: 'An environment variable cannot have this name',
  ENV_NOT_ALLOWED: 'An environment variable is not on the list of those allowed',
  NO_PROMPT: 'A model is asked nothing',
  NOTHING_TO_WATCH: 'A watch has nothing to wait for',
  DUPLICATE_NAME: 'Two steps have the same name',
  OUTPUT_CLASH: 'Two branches set the same variable',
  BAD_REFERENCE: 'A reference cannot be read',
  UNKNOWN_LABEL: 'No step has this label',
  UNKNOWN_COMMAND: 'There is no such command',
  COMMAND_NOT_BUILT: 'The command is not available yet',
  UNKNOWN_REFERENCE: 'Nothing sets this variable',
  SHELL_SETS_NAME: 'A command line sets a name that is also a variable',
  USED_BEFORE_SET: 'A variable is read before it is set',
  SET_ON_SOME_PATHS: 'A variable may have no value where it is read',
  SIBLING_REFERENCE: 'A branch reads what another branch sets',
  RELATIVE_PATH: 'A path is compared with one that begins with "/", and is relative',
  UNKNOWN_FIELD: 'A value has no such field',
  RESULT_NOT_AWAITED: 'The result of a run that nobody waits for is read',
  STUCK_LOOP: "A loop's check never changes",
  REFUSED_BY_MODE: 'The mode of the run refuses this step',
  STEERING_VARIABLE: 'A sandboxed step sets a variable that steers the programs it starts',
  SECRET_IN_TEXT: 'A secret is written into the definition',
  UNBOUND_ITEM: "The array of a loop's current item was not found",
  UNKNOWN_DEFINITION: 'There is no definition of this name',
  BAD_FILE_REFERENCE: 'A `$ref` names a file that it cannot lead to',
  PATH_OUTSIDE_PROJECT: 'A `$ref` leads out of the project',
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
  /** Where it stands in the text, from 1; `source`: that line of it. */
  line?: number;
  column?: number;
  source?: string;
  /** The file of that text. */
  file?: string;
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}
