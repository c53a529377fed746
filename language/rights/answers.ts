/**
 * Which answers a run may give to what another run asks: the one list of verdicts, in order. The first that says
 * something decides. A run has the rights of no person; the run of a model persona has what a person has granted it.
 */
import { letsAct, type Choice, type Question } from '../events/question.ts';
import { isJsonObject, type Json } from '../json.ts';

/** What a person may grant to a persona that is a model, for what its own runs ask. */
export const GRANTS = [
  'approve:write',
  'approve:delete',
  'approve:shell',
  'approve:network',
  'approve:step',
  'edit:shell',
  'edit:emit',
  'extend',
] as const;
export type Grant = (typeof GRANTS)[number];

export interface RunAnswer {
  choice: Choice;
  question: Pick<Question, 'id' | 'kind' | 'show' | 'assignee' | 'approvers'>;
  data: Json;
  /** The run that asks, and to whom it belongs. */
  handle: string;
  owner: string;
  /** The persona of the run that answers. */
  persona: string;
  /** What was granted to it; null: it is no model. */
  may: readonly Grant[] | null;
  /** The command that answers has started the run. */
  hasStarted: boolean;
}

/** Why it is refused; null: it is allowed; undefined: the next rule says. */
type Rule = (answer: RunAnswer) => string | null | undefined;

const TROUBLE: ReadonlySet<string> = new Set(['error', 'timeout', 'unfamiliar']);

const byPerson = ({ choice, question: { id }, handle }: RunAnswer): string =>
  `"${choice}" of "${id}" lets ${handle} act, and a person decides that`;

const isNamed = ({ question: { assignee, approvers }, persona }: RunAnswer): boolean =>
  approvers !== undefined || assignee !== persona;

const isOwn = ({ may, owner, persona }: RunAnswer): boolean => may !== null && owner === persona;

const shownIn = ({ question: { show } }: RunAnswer, field: string): Json =>
  isJsonObject(show) ? (show[field] ?? null) : null;

/** What has to be granted for it; null: nothing that can be. */
function neededFor(answer: RunAnswer): readonly string[] | null {
  const { choice, question } = answer;
  const action = shownIn(answer, 'action');
  const type = isJsonObject(action) && typeof action['type'] === 'string' ? action['type'] : '';
  const permission = shownIn(answer, 'permission');
  const approval = `approve:${typeof permission === 'string' ? permission : ''}`;
  switch (choice) {
    case 'approve':
      return question.kind === 'approval' ? ['approve:step'] : question.kind === 'action' ? [approval] : null;
    case 'edit':
      if (question.kind === 'action') return [approval, `edit:${type}`];
      return TROUBLE.has(question.kind) ? [`edit:${type}`] : null;
    case 'extend':
      return ['extend'];
    case 'retry':
    case 'reject':
    case 'skip':
    case 'abort':
    case 'stop':
      return null;
    default:
      return choice satisfies never;
  }
}

/** Answers after which the run does less. */
const doesLess: Rule = ({ choice }) => (letsAct(choice) ? undefined : null);

const byStarter: Rule = (answer) =>
  answer.choice === 'approve' && answer.question.kind === 'approval' && answer.hasStarted && !isNamed(answer)
    ? null
    : undefined;

const notOwn: Rule = (answer) => {
  if (isOwn(answer)) return undefined;
  const { choice, question, hasStarted, handle } = answer;
  if (choice !== 'approve' || question.kind !== 'approval') return byPerson(answer);
  return hasStarted
    ? `"${question.id}" is for ${question.assignee}`
    : `"${question.id}" is for a person, or for the command that has started ${handle}`;
};

const asksOthers: Rule = (answer) =>
  isNamed(answer) ? `"${answer.question.id}" is for ${answer.question.assignee}` : undefined;

/** Of an action, these are rules of a policy; beside another question an author shows what they like. */
const ofPolicy: Rule = (answer) =>
  answer.question.kind === 'action' && shownIn(answer, 'rules') !== null ? byPerson(answer) : undefined;

const setsVariables: Rule = (answer) =>
  answer.choice === 'edit' && isJsonObject(answer.data) && Object.hasOwn(answer.data, 'env')
    ? `"edit" of "${answer.question.id}" sets variables of ${answer.handle}, and a person decides that`
    : undefined;

const triesAgain: Rule = ({ choice, question }) =>
  choice === 'retry' && TROUBLE.has(question.kind) ? null : undefined;

const granted: Rule = (answer) => {
  const needed = neededFor(answer);
  return needed?.every((one) => (answer.may as readonly string[] | null)?.includes(one)) === true ? null : undefined;
};

const RULES: readonly Rule[] = [
  doesLess,
  byStarter,
  notOwn,
  asksOthers,
  ofPolicy,
  setsVariables,
  triesAgain,
  granted,
  byPerson,
];

/** Why a run may not answer so; null where it may. */
export function answerRefusal(answer: RunAnswer): string | null {
  for (const rule of RULES) {
    const why = rule(answer);
    if (why !== undefined) return why;
  }
  throw new Error('bug: the last rule decides');
}
