/**
 * The schema's word on every definition and step. Each object is checked by itself, with its inner
 * steps and free values left out, so that the cost is linear, a misspelt key is measured against its
 * own step's keys, and one bad step does not hide another.
 */
import type * as z from 'zod';
import { findCommand, type Catalogue } from '../../catalogue.ts';
import {
  ApprovalStep,
  CommandStep,
  ConditionStep,
  Definition,
  DefinitionRef,
  EmitStep,
  FailStep,
  JoinStep,
  LlmStep,
  LoopConfig,
  LoopStep,
  ParallelStep,
  SentinelStep,
  SetStep,
  ShellStep,
  SleepStep,
  Trigger,
  WatchStep,
  type StepType,
} from '../../model.ts';
import type { Problem } from '../../problems.ts';
import { describe, kindOf, valueAt, withoutConsequences, narrowed } from '../remedies/describe-issue.ts';
import { isPlain, lastKey, type Origins, type Plain } from '../draft/draft.ts';
import { instead, insteadInTrigger } from '../remedies/instead.ts';
import { nearest, otherWord, remedyFor } from '../remedies/meant-word.ts';
import { addNamesIn, AS_WRITTEN, mend, type Misspelt } from './mend.ts';
import { stepForText } from '../remedies/text-for-step.ts';
import { beside, meantReference } from './meant-reference.ts';
import { defined } from '../../defined.ts';

const STEPS = {
  shell: ShellStep,
  command: CommandStep,
  llm: LlmStep,
  watch: WatchStep,
  emit: EmitStep,
  condition: ConditionStep,
  loop: LoopStep,
  parallel: ParallelStep,
  sentinel: SentinelStep,
  approval: ApprovalStep,
  fail: FailStep,
  set: SetStep,
  sleep: SleepStep,
  join: JoinStep,
} satisfies Record<StepType, z.ZodType>;

const STEP_TYPES = Object.keys(STEPS);
const TYPES_THERE_ARE = `there are ${STEP_TYPES.join(', ')}`;

/** Keys whose contents are checked elsewhere, or not at all, with what stands in for them. */
const LEFT_OUT: ReadonlyArray<{ key: string; fits: (value: unknown) => boolean; by: unknown }> = [
  ...['steps', 'then', 'else', 'always', 'args'].map((key) => ({ key, fits: Array.isArray, by: [] })),
  { key: 'branches', fits: (value) => Array.isArray(value) && value.every(Array.isArray), by: [] },
  ...['params', 'env', 'inputs', 'inputSchema', 'outputs', 'form', 'values'].map((key) => ({
    key,
    fits: isPlain,
    by: {},
  })),
  ...['stdin', 'data', 'schema', 'show', 'handles'].map((key) => ({ key, fits: () => true, by: null })),
  { key: 'definition', fits: isPlain, by: { $ref: 'elsewhere' } },
];

export interface Found {
  problems: Problem[];
  origins: Origins;
  /** The commands there are. */
  catalogue: Catalogue;
}

export interface Checked {
  /** Whether the other checks may look at it: it is as the schema wants it, or has been mended. */
  isKnown: boolean;
  /** Names that keys which are none may have been meant to set. */
  names: readonly string[];
}

export function checkDefinitionSchema(definition: unknown, path: string, found: Found): Checked {
  const isReference = isPlain(definition) && Object.hasOwn(definition, '$ref');
  if (isPlain(definition) && !isReference) {
    const meant = meantReference(definition, path, found.origins);
    if (meant !== undefined) {
      push(found, meant);
      return { isKnown: false, names: [] };
    }
  }
  return report(isReference ? DefinitionRef : Definition, definition, path, found);
}

export function checkStepSchema(step: Plain, path: string, found: Found): Checked {
  const type = step['type'];
  if (typeof type === 'string' && Object.hasOwn(STEPS, type)) {
    return report(STEPS[type as StepType], step, path, found);
  }
  if (type === undefined) reportUntyped(step, path, found);
  else {
    const remedy = typeof type === 'string' ? remedyFor(type, STEP_TYPES) : undefined;
    const message = `${JSON.stringify(type)} is not a type of step; ${remedy?.words ?? TYPES_THERE_ARE}`;
    push(found, {
      code: 'WRONG_VALUE',
      path: found.origins.locate(step, path, ['type']),
      message,
      ...(remedy?.fix === undefined ? {} : { fix: remedy.fix }),
    });
    if (typeof type === 'string' && isStepOf(nearest(type, STEP_TYPES), step)) return { isKnown: true, names: [] };
  }
  return { isKnown: false, names: [] };
}

/** What a step without a type may be told by, where it is not spelled as it should be: the first of these that has a word near to one of its keys. */
const TELLING_WORDS: ReadonlyArray<readonly string[]> = [
  ['type'],
  ['command'],
  STEP_TYPES,
  ['prompt', 'definition', 'branches', 'check', 'event', 'executionId', 'message', 'rules', 'then'],
];

const KEYS_OF_STEPS: ReadonlySet<string> = new Set(Object.values(STEPS).flatMap(({ shape }) => Object.keys(shape)));

/** A step that says what it does in another language's word wants that word mended, and then its type is known. */
function reportUntyped(step: Plain, path: string, found: Found): void {
  const others = Object.keys(step).filter((key) => !KEYS_OF_STEPS.has(key));
  for (const legal of [...tellingLoop(step), ...TELLING_WORDS]) {
    const telling = others
      .map((key) => ({ key, at: [], meant: nearest(key, legal), legal }))
      .find(({ meant }) => meant !== undefined);
    if (telling !== undefined) return reportUnknownKey(telling, step, path, found);
  }
  const named = others.find((key) => findCommand(found.catalogue, key) !== undefined);
  if (named !== undefined) return reportCommandAsKey(named, step, path, found);
  const word = others.find((key) => instead(key) !== undefined);
  if (word !== undefined)
    return reportUnknownKey({ key: word, at: [], meant: undefined, legal: [] }, step, path, found);
  push(found, {
    code: 'MISSING_KEY',
    path: found.origins.locate(step, path, ['type']),
    message: `the step has no "type"; ${TYPES_THERE_ARE}`,
  });
}

/** Steps that repeat are told by how they do. */
function tellingLoop(step: Plain): ReadonlyArray<readonly string[]> {
  if (Object.hasOwn(step, 'steps')) return [WAYS_TO_REPEAT];
  return WAYS_TO_REPEAT.some((key) => Object.hasOwn(step, key)) ? [['steps']] : [];
}

const WAYS_TO_REPEAT = ['over', 'count', 'while', 'until', 'maxIterations'];

/** `{"code/read": {"path": "a"}}` */
function reportCommandAsKey(name: string, step: Plain, path: string, found: Found): void {
  const fix = `write {"type": "command", "command": "${name}"${isPlain(step[name]) ? ', "params": {…}' : ''}}`;
  push(found, {
    code: 'UNKNOWN_KEY',
    path: found.origins.locate(step, path, [name]),
    message: `"${name}" is not a key here; ${fix}`,
    fix,
  });
}

/** A misspelt type is taken for the one it is near to where the step has its keys. */
function isStepOf(type: string | undefined, step: Plain): boolean {
  if (type === undefined || !STEPS[type as StepType].safeParse(withoutInner({ ...step, type }), OWN_WORDS).success)
    return false;
  step['type'] = type;
  return true;
}

export function notAStep(step: unknown, path: string, found: Found): void {
  const { words, fix } =
    typeof step === 'string'
      ? stepForText(step, found.catalogue)
      : { words: Array.isArray(step) ? 'steps that go on at once are the branches of a step of type "parallel"' : '' };
  push(found, {
    code: 'WRONG_TYPE',
    path,
    message: `a step is an object, and here stands ${kindOf(step)}${words === '' ? '' : `; ${words}`}`,
    ...defined({ fix }),
  });
}

/**
 * The schema library words some issues by calling what it finds in the value (`constructor`, `toString`),
 * which a hostile definition may have filled; so it words none of them.
 */
export const OWN_WORDS = { error: (): string => 'not as it should be' };

/** Keys with the right name show what is wrong with their values; mending those is enough. */
const roundsMax = 3;

/** Reports what the schema refuses, and mends it; what a rewrite has reported already is not said again, and later rounds speak of what a misspelt key holds. */
function report(schema: z.ZodType, value: unknown, path: string, found: Found): Checked {
  const names: string[] = [];
  let renamed: ReadonlySet<PropertyKey> | undefined;
  for (let round = 0; round < roundsMax; round += 1) {
    const result = schema.safeParse(isPlain(value) ? withoutInner(value) : value, OWN_WORDS);
    if (result.success) return { isKnown: true, names };
    const narrow = (issue: z.core.$ZodIssue): z.core.$ZodIssue[] => narrowed(issue, valueAt(value, issue.path));
    const issues = withoutConsequences(result.error.issues.flatMap(narrow));
    const misspelt = issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? misspeltOf(issue, schema, value) : [],
    );
    const wrong = issues.filter((issue) => issue.code !== 'unrecognized_keys' && !isThereMisspelt(issue, misspelt));
    if (renamed === undefined) for (const each of misspelt) reportUnknownKey(each, value, path, found);
    for (const issue of wrong)
      if (renamed === undefined || issue.path.some((key) => renamed?.has(key))) reportIssue(issue, value, path, found);
    // A reference is the author's own object.
    if (!isPlain(value) || schema === DefinitionRef) break;
    for (const { key, at } of misspelt) addNamesIn(valueAt(value, [...at, key]), names);
    mend(value, path, { issues: wrong, misspelt }, found.origins);
    renamed = new Set(misspelt.flatMap(({ meant }) => (meant !== undefined && AS_WRITTEN.has(meant) ? [meant] : [])));
  }
  return { isKnown: false, names };
}

/** A key that is missing is there, misspelt. */
function isThereMisspelt({ path }: z.core.$ZodIssue, misspelt: readonly Misspelt[]): boolean {
  if (misspelt.length === 0) return false;
  const place = path.map(String).join('.');
  return misspelt.some(({ at, meant }) => meant !== undefined && [...at, meant].map(String).join('.') === place);
}

/** What tells the type of a loop or a trigger that does not say it. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  loop: ['max', 'over', 'check', 'intervalMs', 'event'],
  trigger: ['cronExpression', 'event'],
};

/** A loop or a trigger without a type, in another language's words: those tell its type once they are mended. */
function untypedWord({ path }: z.core.$ZodIssue, value: unknown): UnknownKey | undefined {
  if (path.length > 2) return undefined;
  const [owner = '', key] = path.map(String);
  const holder = valueAt(value, [owner]);
  const legal = TELLING[owner];
  if (key !== 'type' || legal === undefined || !isPlain(holder) || holder['type'] !== undefined) return undefined;
  return Object.keys(holder)
    .map((written) => ({ key: written, at: [owner], meant: nearest(written, legal), legal }))
    .find(({ key: written, meant }) => meant !== undefined && meant !== written);
}

function reportIssue(issue: z.core.$ZodIssue, value: unknown, path: string, found: Found): void {
  const word = untypedWord(issue, value);
  if (word !== undefined) return reportUnknownKey(word, value, path, found);
  const at = found.origins.locate(value, path, issue.path);
  if (!found.origins.refused.has(at)) push(found, { path: at, ...describe(issue, value, at, found.catalogue) });
}

function withoutInner(value: Plain): Plain {
  const copy = { ...value };
  for (const { key, fits, by } of LEFT_OUT) if (Object.hasOwn(copy, key) && fits(copy[key])) copy[key] = by;
  return copy;
}

interface UnknownKey extends Misspelt {
  legal: readonly string[];
}

function misspeltOf({ keys, path }: z.core.$ZodIssueUnrecognizedKeys, schema: z.ZodType, value: unknown): UnknownKey[] {
  const legal = keysAt(schema, value, path);
  return keys.map((key) => ({ key, at: path, meant: nearest(key, legal), legal }));
}

function reportUnknownKey({ key, at, legal }: UnknownKey, value: unknown, path: string, found: Found): void {
  const place = found.origins.locate(value, path, [...at, key]);
  if (found.origins.refused.has(place)) return;
  const own = lastKey(place, key);
  if (value !== undefined && isPlain(value) && Object.hasOwn(value, '$ref'))
    return push(found, beside(own, place, value['$ref']));
  const { words, ...fix } =
    (at[0] === 'trigger' ? filterOf(own) : elsewhere(own, value, { at, legal })) ?? remedyFor(own, legal);
  push(found, {
    code: 'UNKNOWN_KEY',
    path: place,
    message: `"${own}" is not a key here${words.startsWith(',') ? '' : '; '}${words}`,
    ...fix,
  });
}

/** A key that is none here is a parameter of the command, or a key of something else. */
function elsewhere(
  key: string,
  value: unknown,
  { at, legal }: Pick<UnknownKey, 'at' | 'legal'>,
): { words: string; fix?: string } | undefined {
  if (at.length > 0 || !isPlain(value) || otherWord(key, legal) !== undefined) return undefined;
  if (value['type'] === 'command' && nearest(key, legal) === undefined) {
    const fix = `write "params": {${JSON.stringify(key)}: …}`;
    return { words: fix, fix };
  }
  if (instead(key) !== undefined) return undefined;
  const types = STEP_TYPES.filter((type) => Object.hasOwn(STEPS[type as StepType].shape, key));
  const isStep = value['type'] !== undefined;
  const owner =
    types.length > 0
      ? ownerOf(types, isStep)
      : isStep && Object.hasOwn(Definition.shape, key)
        ? 'a definition'
        : isStep && KEYS_OF_LOOPS.has(key)
          ? 'a loop'
          : undefined;
  return owner === undefined ? undefined : { words: `, but one of ${owner}` };
}

const KEYS_OF_LOOPS: ReadonlySet<string> = new Set(LoopConfig.options.flatMap(({ shape }) => Object.keys(shape)));

function ownerOf(types: readonly string[], isStep: boolean): string {
  return types.length > 3
    ? isStep
      ? 'other steps'
      : 'a step'
    : `a step of type ${types.map((type) => `"${type}"`).join(' or ')}`;
}

function filterOf(key: string): { words: string; fix?: string } | undefined {
  const words = insteadInTrigger(key);
  return words === undefined ? undefined : { words };
}

/** The legal keys of the object at `path`: of the schema itself, of a loop, a trigger or an inner object. */
function keysAt(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): string[] {
  const [head, ...rest] = path;
  if (head === undefined) return shapeKeys(schema);
  const holder = isPlain(value) ? value[String(head)] : undefined;
  if (head === 'loop' || head === 'trigger') {
    const options: readonly z.ZodType[] = head === 'loop' ? LoopConfig.options : Trigger.options;
    const type = isPlain(holder) ? holder['type'] : undefined;
    return shapeKeys(
      options.find(
        (option) =>
          option.safeParse({ type }, OWN_WORDS).error?.issues.every((issue) => issue.path[0] !== 'type') ?? true,
      ),
    );
  }
  const shape = shapeOf(schema);
  return keysAt(shape?.[String(head)] ?? schema, holder, rest);
}

function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> | undefined {
  const outer = schema as
    | {
        shape?: Record<string, z.ZodType>;
        unwrap?: () => z.ZodType;
        element?: z.ZodType;
        options?: readonly z.ZodType[];
      }
    | undefined;
  if (outer?.shape !== undefined) return outer.shape;
  if (typeof outer?.unwrap === 'function') return shapeOf(outer.unwrap());
  // Of several forms, the only one that is an object.
  const shapes = (outer?.options ?? []).map((option) => shapeOf(option)).filter((shape) => shape !== undefined);
  if (shapes.length === 1) return shapes[0];
  return outer?.element === undefined ? undefined : shapeOf(outer.element);
}

function shapeKeys(schema: z.ZodType | undefined): string[] {
  return Object.keys(shapeOf(schema) ?? {});
}

function push(found: Found, problem: Omit<Problem, 'severity'>): void {
  found.problems.push({ severity: 'error', ...problem });
}
