/**
 * From a depth of thought to what models take: an effort, and turns in which the model checks its own answer.
 *
 * A depth counts loops of thought. No provider lets anybody set them, or says how sure a model is between two of
 * them, so a depth becomes an effort, and a threshold of certainty becomes turns in which the model holds its answer
 * against the question. What a step may do asks for a depth of its own, the more the harder it is to undo.
 */
import { findCommand, type Permission } from '../../language/catalogue.ts';
import type { LlmStep } from '../../language/model.ts';
import type { Effort, Thinking } from '../../language/settings.ts';
import type { TurnOutcome } from '../effect.ts';
import type { ModelFrame } from '../position.ts';
import type { Walk } from '../walk-state.ts';

/** What each class of commands asks for at least. */
const LEAST: Readonly<Record<Permission, number>> = { read: 1, write: 3, network: 3, shell: 4, delete: 4 };
/** An answer of a given form sorts what it is told. */
const leastToClassify = 2;
const exitUsual = 0.5;
/** Up to here the model may stop early. */
const exitEarly = 0.2;
/** From here on it checks its answer twice. */
const exitDeep = 0.9;

const EFFORTS: readonly Effort[] = ['off', 'low', 'medium', 'high', 'max'];
/** The depth from which an effort holds, by its place in the list. */
const FROM = [1, 2, 3, 4, 6] as const;

export function effortOf(walk: Walk, step: LlmStep, tools: readonly string[]): Effort | undefined {
  const { thinking } = step;
  if (thinking === undefined || typeof thinking === 'string') return thinking;
  const least = leastDepth(walk, step, thinking, tools);
  const wanted = placeOf(Math.max(thinking.depth, least));
  const isEarly = (thinking.exit ?? exitUsual) <= exitEarly;
  // Stopping early saves thought, and never what the commands of the step ask for.
  return EFFORTS[isEarly ? Math.max(wanted - 1, placeOf(least)) : wanted];
}

const placeOf = (depth: number): number => FROM.findLastIndex((from) => depth >= from);

function leastDepth(
  walk: Walk,
  { schema }: LlmStep,
  { safetyBoost = {} }: Exclude<Thinking, string>,
  tools: readonly string[],
): number {
  const classes = tools.flatMap((name): Permission[] => {
    const entry = findCommand(walk.input.catalogue, name);
    return entry === undefined ? [] : [entry.permission, ...Object.values(entry.operations ?? {})];
  });
  const asked = classes.map((permission) => LEAST[permission] + (safetyBoost[permission] ?? 0));
  return Math.max(1, ...asked, ...(schema === undefined ? [] : [leastToClassify]));
}

/** Turns in which the model checks its answer. */
export function checksOf({ thinking }: Pick<LlmStep, 'thinking'>): number {
  if (thinking === undefined || typeof thinking === 'string') return 0;
  const { exit = exitUsual } = thinking;
  return exit >= exitDeep ? 2 : exit > exitUsual ? 1 : 0;
}

const CONFIRMED = /^\W*CONFIRMED\W*$/;

/**
 * What an answer that could be the last one comes to: the outcome that the step ends with, or null where the model
 * is to check it first.
 */
export function checkedAnswer(
  step: LlmStep,
  open: ModelFrame,
  outcome: TurnOutcome,
  turnsMax: number,
): TurnOutcome | null {
  const before = open.candidate;
  const isKept = before !== undefined && (outcome.fault !== undefined || CONFIRMED.test(outcome.text ?? ''));
  if (isKept) return before;
  const done = open.checks ?? 0;
  if (outcome.fault !== undefined || done >= checksOf(step) || open.turn >= turnsMax) return outcome;
  open.candidate = outcome;
  open.checks = done + 1;
  const { exit = exitUsual } = step.thinking as Exclude<Thinking, string>;
  open.say = [{ prompt: 'self-check', exit, hasForm: step.schema !== undefined }];
  return null;
}
