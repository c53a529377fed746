/** The file of `sentinel eval`: a definition, inputs, and checks of what comes of each. docs/evaluation.md describes it. */
import * as z from 'zod';
import { faultOfValues, isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { parseExpression } from '../../language/expression/parse.ts';
import { exactJson, withoutMark } from '../../language/numbers/exact-json.ts';

const RUNS_MAX = 10_000;

const Text = z.string().min(1);
const Row = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

const CheckText = Text.superRefine((text, context) => {
  const read = parseExpression(text);
  if (!read.ok) context.addIssue({ code: 'custom', message: `is no expression: ${read.problem.message}` });
});
const Check = z.union([CheckText, z.strictObject({ name: Text, check: CheckText })]);

const Input = z.strictObject({
  /** Names the case; `input N` when absent. */
  name: Text.optional(),
  input: Row.optional(),
  checks: z.array(Check).optional(),
  /** How the run has to end; `completed` when absent. */
  outcome: z.enum(['completed', 'failed', 'stopped', 'cancelled']).optional(),
});

const EvaluationFile = z.strictObject({
  definition: Text,
  inputs: z.array(Input).min(1),
  /** Of every input. */
  checks: z.array(Check).optional(),
  models: z.array(Text).min(1).optional(),
  repeat: z.number().int().min(1).max(1000).optional(),
  concurrency: z.number().int().min(1).max(64).optional(),
  /** A cassette that answers in the place of models. */
  replay: Text.optional(),
});

export interface NamedCheck {
  name: string;
  check: string;
}

export interface EvaluationInput {
  name: string;
  input: JsonObject;
  checks: NamedCheck[];
  outcome: 'completed' | 'failed' | 'stopped' | 'cancelled';
}

export interface Evaluation {
  definition: string;
  inputs: EvaluationInput[];
  /** Null: as the definition says. */
  models: (string | null)[];
  repeat: number;
  concurrency: number;
  replay: string | null;
}

export type EvaluationRead = { ok: true; evaluation: Evaluation } | { ok: false; problems: string[] };

/** Each problem names its place. */
export function readEvaluation(text: string): EvaluationRead {
  let value: Json;
  try {
    value = exactJson(withoutMark(text));
  } catch (error) {
    return { ok: false, problems: [`it is no JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const read = EvaluationFile.safeParse(value);
  if (!read.success) {
    const shape = read.error.issues.flatMap((issue) => problemsOf(issue as Issue, []));
    return { ok: false, problems: [...shape, ...twiceNamed(value)] };
  }
  const { inputs, models = [null], repeat = 1, concurrency = 2, replay = null, checks = [], definition } = read.data;
  const named = inputs.map((one, index) => ({
    name: one.name ?? nameOf(index),
    input: one.input ?? {},
    checks: [...checks, ...(one.checks ?? [])].map((check) =>
      typeof check === 'string' ? { name: check, check } : check,
    ),
    outcome: one.outcome ?? ('completed' as const),
  }));
  const problems = [
    ...twiceNamed(value),
    ...named.flatMap(({ input }, index) => {
      const fault = faultOfValues(input, (name) => `inputs[${index}].input.${name}`);
      return fault === null ? [] : [fault.message];
    }),
    ...(inputs.length * models.length * repeat > RUNS_MAX
      ? [`inputs, models and repeat make ${inputs.length * models.length * repeat} runs, and ${RUNS_MAX} are the most`]
      : []),
  ];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, evaluation: { definition, inputs: named, models, repeat, concurrency, replay } };
}

/** Of a file whose shape may be wrong elsewhere. */
function twiceNamed(file: Json): string[] {
  const { inputs = [], models = [] } = isJsonObject(file) ? file : {};
  const names = (Array.isArray(inputs) ? inputs : []).map((one, index) =>
    isJsonObject(one) && typeof one['name'] === 'string' ? one['name'] : nameOf(index),
  );
  const listed = (Array.isArray(models) ? models : []).filter((model) => typeof model === 'string');
  return [
    ...twice(names).map(
      (name) =>
        `inputs: two of them have the name "${name}"; the comparison with the last evaluation needs one for each`,
    ),
    ...twice(listed).map((model) => `models: "${model}" stands there twice`),
  ];
}

const nameOf = (index: number): string => `input ${index + 1}`;

const twice = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
];

interface Issue {
  path: PropertyKey[];
  message: string;
  /** Of a union: what is wrong with each of its forms. */
  errors?: Issue[][];
}

/** Of a union, what is wrong with the form that the value comes nearest to. */
function problemsOf({ path, message, errors = [] }: Issue, around: readonly PropertyKey[]): string[] {
  const whole = [...around, ...path];
  const meant = errors.find(
    (issues) => !issues.some((issue) => issue.path.length === 0 && /expected/i.test(issue.message)),
  );
  if (meant !== undefined) return meant.flatMap((issue) => problemsOf(issue, whole));
  return [`${placeOf(whole)}: ${message}`];
}

function placeOf(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (before, part) =>
      typeof part === 'number' ? `${before}[${part}]` : `${before}${before === '' ? '' : '.'}${String(part)}`,
    '',
  );
  return text === '' ? 'the file' : text;
}
