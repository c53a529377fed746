/**
 * What a run that is held at a limit asks: is it extended, and by how much, or does the run end there?
 *
 * - The question is open while the run is held for it. An answer to another one, which lets the run
 *   go on, leaves it open, and the run is held again.
 * - Resuming the run answers all of them: each limit is extended by what it was.
 * - An extension counts from the moment it is given. What is granted beyond or short of what the limit
 *   was is kept beside the count of the extensions.
 */
import { canonicalText } from '../language/canonical.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import { continuousPassesMax } from '../language/limits.ts';
import type { Answer, Question } from '../language/events/question.ts';
import type { RunFinished } from '../language/events/run-event.ts';
import { wait, type Walking } from './drive.ts';
import type { RunInput } from './host.ts';
import { record, type Walk } from './walk-state.ts';
import type { Limit } from './limits.ts';
import { ruleFor } from './rules.ts';

const prefix = 'limit.';

/** Each extension is a question of its own. */
export function limitQuestionId(limit: Limit, granted: number): string {
  return `${prefix}${limit}${granted === 0 ? '' : `#${granted + 1}`}`;
}

/** The limit that a question is about; null where it is about something else. */
export function limitAsked(id: string): Limit | null {
  return id.startsWith(prefix) ? (id.slice(prefix.length).replace(/#\d+$/, '') as Limit) : null;
}

/** Who is asked by a run that is held at a limit; a nested run's limit is its owner's business too. */
export function holdReport({ definition, persona }: RunInput): RunFinished['notify'] {
  if (definition.reportTo === 'silent') return undefined;
  return { condition: 'timeout', priority: ruleFor(definition, 'timeout')?.priority ?? 'high', assignee: persona };
}

/** Asks, where the run is held and nobody has asked yet. A run that reports to nobody asks nobody. */
export function* askAtLimit(walk: Walk, limit: Limit, id: string): Walking<void> {
  const { input, position } = walk;
  const report = holdReport(input);
  if (report === undefined || position.paused === null || isOpen(walk, id)) return;
  const given = boundOf(walk, limit);
  const show = { limit, extension: given };
  const digest = yield* wait(walk.host.digest(canonicalText({ run: input.handle, id, about: show })));
  // It may have been resumed meanwhile, and another branch may have asked.
  if (digest === null || walk.position.paused === null || isOpen(walk, id)) return;
  const name = nameOf(limit);
  const question: Question = {
    id,
    kind: report.condition,
    message: `the run is held: the limit ${limit} is reached. "extend" grants ${given} more, or as much as its data say ({"${name}": ${given}}); "stop" ends the run here`,
    choices: ['extend', 'stop'],
    show,
    form: null,
    assignee: report.assignee,
    priority: report.priority,
    askedAt: walk.host.now(),
    expiresAt: null,
    digest,
  };
  walk.position.questions.push(question);
  record(walk, { type: 'asked', key: '', question });
}

export const isOpen = ({ position }: Walk, id: string): boolean =>
  position.questions.some((question) => question.id === id);

/** What an extension grants where nobody says how much. */
function boundOf({ input: { limits } }: Walk, limit: Limit): number {
  if (limit === 'maxIterations') return limits.maxIterations ?? continuousPassesMax;
  if (limit === 'timeoutMs') return limits.timeoutMs ?? 0;
  return limits.budget?.[nameOf(limit) as 'steps' | 'tokens' | 'usd' | 'wallMs'] ?? 0;
}

const nameOf = (limit: Limit): string => limit.replace('budget.', '');

/** What is wrong with the data of an extension; null where nothing is. */
export function extensionFault(id: string, data: Json): string | null {
  const limit = limitAsked(id);
  if (limit === null || data === null) return null;
  const name = nameOf(limit);
  const amount = isJsonObject(data) && Object.keys(data).length === 1 ? data[name] : undefined;
  const isAmount = typeof amount === 'number' && amount > 0 && (limit === 'budget.usd' || Number.isSafeInteger(amount));
  return isAmount
    ? null
    : `the data of "extend" say how much more it may use, as {"${name}": N}, N ${limit === 'budget.usd' ? 'an amount' : 'a whole number'} above 0; without data it is as much as before`;
}

export function takeExtension(walk: Walk, id: string, { choice, data }: Answer): void {
  const limit = limitAsked(id);
  if (limit === null || choice !== 'extend') return;
  countExtension(walk, limit);
  const amount = isJsonObject(data) ? data[nameOf(limit)] : undefined;
  if (typeof amount !== 'number') return;
  const { extensions } = walk.position;
  extensions[`more.${limit}`] = (extensions[`more.${limit}`] ?? 0) + amount - boundOf(walk, limit);
}

export function countExtension({ position: { extensions } }: Walk, limit: Limit): void {
  extensions[limit] = (extensions[limit] ?? 0) + 1;
}
