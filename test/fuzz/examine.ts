/**
 * What must hold for every input of the language: no throw, no call over `callMsMax`, nothing
 * inherited read, no data changed, JSON or nothing as the answer, and the same answer twice.
 */
import { tryEvaluate } from '../../language/expression/evaluate.ts';
import { interpolateValue } from '../../language/references/interpolation.ts';
import type { Json } from '../../language/json.ts';
import { parseDefinition, parseDefinitionText } from '../../language/read/definition.ts';
import { scopeOf } from '../../language/expression/scope.ts';
import { renderShellLine } from '../../language/references/shell-line.ts';
import { definition, definitionText, expression, scope, template } from './hostile.ts';
import { watchInherited } from './inherited.ts';
import { Random } from './random.ts';
import { catalogue } from '../catalogue.ts';

const callMsMax = 50;
const patienceMs = 2_000;

export const KINDS = ['evaluator', 'reader'] as const;
export type Kind = (typeof KINDS)[number];

export interface Finding {
  kind: Kind;
  seed: number;
  input: string;
  finding: string;
}

/** One generated input. The seed alone decides it. */
export function examine(kind: Kind, seed: number): Finding | undefined {
  const random = new Random(seed);
  const { input, call } = kind === 'evaluator' ? evaluation(random) : reading(random);
  const finding = examineCall(call);
  return finding === undefined
    ? undefined
    : {
        kind,
        seed,
        input: input.length > 2_000 ? `${input.slice(0, 2_000)}… (${input.length} characters)` : input,
        finding,
      };
}

interface Examined {
  input: string;
  /** The second call of a pair may be asked in another way that means the same. */
  call: (turn: number) => unknown;
}

function evaluation(random: Random): Examined {
  const variables = frozen(scope(random));
  const names = scopeOf(variables);
  switch (random.below(5)) {
    case 0: {
      const text = template(random);
      return { input: text, call: () => interpolateValue(text, names) };
    }
    case 1: {
      const text = template(random);
      return { input: text, call: () => renderShellLine(text, names) };
    }
    default: {
      const text = expression(random);
      // With a space behind it the text is parsed anew.
      return { input: text, call: (turn) => answerOf(tryEvaluate(text + ' '.repeat(turn % 2), names)) };
    }
  }
}

function answerOf(result: ReturnType<typeof tryEvaluate>): unknown {
  return result.ok ? result : { ok: false, code: result.code };
}

function reading(random: Random): Examined {
  if (random.chance(2)) {
    const text = definitionText(random);
    return { input: text, call: () => parseDefinitionText(text, { catalogue }) };
  }
  const raw = frozen(definition(random));
  return { input: JSON.stringify(raw), call: () => parseDefinition(raw, { catalogue }) };
}

/** What is wrong with a call, asked for twice; undefined when nothing is. */
export function examineCall(call: (turn: number) => unknown): string | undefined {
  try {
    const first = timed(() => watchInherited(() => call(0)));
    if (first.value.finding !== undefined) return first.value.finding;
    const second = timed(() => call(1));
    const quickest = quickestOf(call, Math.min(first.ms, second.ms));
    if (quickest > callMsMax) return `one call took ${Math.round(quickest)} ms`;
    const strange = strangeIn(first.value.result);
    if (strange !== undefined) return strange;
    return textOf(first.value.result) === textOf(second.value) ? undefined : 'the second answer is another one';
  } catch (error) {
    return `it threw ${error instanceof Error ? (error.stack ?? error.message).slice(0, 500) : String(error)}`;
  }
}

/**
 * A machine that is busy elsewhere is no hang, and neither is code that is not compiled yet: what took too
 * long is called again until a call is quick enough, or `patienceMs` are spent.
 */
function quickestOf(call: (turn: number) => unknown, ms: number): number {
  let quickest = ms;
  for (let spent = 0, turn = 0; quickest > callMsMax && spent < patienceMs; turn += 1) {
    const again = timed(() => call(turn % 2));
    quickest = Math.min(quickest, again.ms);
    spent += again.ms;
  }
  return quickest;
}

/** Processor time, where it is less than the time that passed: a call that waits for a busy machine does not hang. */
function timed<T>(work: () => T): { value: T; ms: number } {
  const [began, before] = [performance.now(), process.cpuUsage()];
  const value = work();
  const passedMs = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { value, ms: Math.min(passedMs, (user + system) / 1000) };
}

/** Values nested deeper than the stack are compared by their depth only. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch (error) {
    if (error instanceof RangeError) return 'deep';
    throw error;
  }
}

/** Answers hold plain data and nothing else. */
function strangeIn(answer: unknown): string | undefined {
  const waiting: unknown[] = [answer];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'function' || typeof value === 'symbol') return `the answer holds a ${typeof value}`;
    if (typeof value === 'number' && !Number.isFinite(value)) return 'the answer holds a number that JSON cannot';
    if (typeof value !== 'object' || value === null) continue;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null)
      return 'the answer holds an object of a class';
    for (const item of Object.values(value)) waiting.push(item);
  }
  return undefined;
}

function frozen<T extends Json>(value: T): T {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const item = waiting.pop();
    if (typeof item !== 'object' || item === null) continue;
    Object.freeze(item);
    for (const inner of Object.values(item)) waiting.push(inner);
  }
  return value;
}
