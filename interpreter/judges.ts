/**
 * The one list of those who judge an action, in the order in which they are asked: simulate, policy, limits, approval.
 * Each is pure: it looks at the action and at the run, and asks nobody.
 *
 * - V1 Nothing reaches the host's `perform` that the whole list has not passed (pass-action.ts), as it is then.
 * - V2 The first refusal ends the list. A question is asked when nothing refuses, and what comes of the answer is
 *      judged again from the beginning.
 * - V3 What judges without the world is here. What has to look at it (paths behind links, the doors of a command, the
 *      rights of a program that a model brings) is refused where the action is performed.
 */
import { entryOf, SHELL_COMMAND } from '../language/catalogue.ts';
import { nestingSentinelsMax } from '../language/limits.ts';
import type { Json } from '../language/json.ts';
import { isToApprove, refusalOf } from '../language/permissions.ts';
import { reservedEventFault } from '../language/events/reserved-events.ts';
import { kindsOfCommand, rulesFor, type ActionFacts } from '../language/policy/judge-policy.ts';
import type { PolicyRule } from '../language/policy/policy.ts';
import { approvalRule } from './approval-rules.ts';
import { lackingFor, priceOf } from './budget.ts';
import type { Limit, Effect } from './effect.ts';
import { shieldOf, type Strand } from './host.ts';
import { limitReached } from './limits.ts';
import type { Walk } from './walk-state.ts';
import { type Action, type Judge, actionOf } from './action.ts';
import { type Finding, refusalIn, type Refusal, type Stage, type Verdict } from './verdict.ts';
import { defined } from '../language/defined.ts';
import type { FailureInfo } from '../language/failure.ts';

/** Said of nearly every action, and so made once. */
const allow = (stage: Stage, rule: string): readonly Verdict[] => [{ rule, verdict: 'allow', stage }];

const ALLOWS = {
  foreseen: allow('simulate', 'foreseen'),
  asWritten: allow('simulate', 'as written'),
  reservedEvents: allow('policy', 'reserved-events'),
  mode: allow('policy', 'mode'),
  policy: allow('policy', 'policy'),
  nesting: allow('limits', 'nesting'),
  time: allow('limits', 'time'),
  budget: allow('limits', 'budget'),
  approval: allow('approval', 'approval'),
};
const NOTHING: readonly Verdict[] = [];

const inStage = (stage: Stage, findings: readonly Finding[]): Verdict[] =>
  findings.map((finding) => ({ ...finding, stage }));

/** What it would do is known where somebody looks at it (pass-action.ts), and nothing else is done then. */
const foreseen: Judge = {
  stage: 'simulate',
  judge: ({ effect }) =>
    effect.type === 'command' && effect.resolved !== undefined ? ALLOWS.foreseen : ALLOWS.asWritten,
};

const reservedEvents: Judge = {
  stage: 'policy',
  judge({ effect }) {
    const fault = effect.type === 'emit' ? reservedEventFault(effect.event) : null;
    if (fault === null) return ALLOWS.reservedEvents;
    const { code, message } = fault;
    return inStage('policy', [
      { rule: 'reserved-events', verdict: 'refuse', why: message, code, message: `${effect.key}: ${message}` },
    ]);
  },
};

const mode: Judge = {
  stage: 'policy',
  judge({ effect, permission }, { input: { catalogue, limits } }) {
    const command = effect.type === 'command' ? { command: effect.command } : {};
    const refusal = refusalOf(catalogue, limits.mode, { permission, ...command });
    if (refusal === null) return ALLOWS.mode;
    const message = `${effect.key}: the step ${refusal}; take the step out or relax "mode"`;
    return inStage('policy', [{ rule: 'mode', verdict: 'refuse', why: refusal, code: 'MODE_FORBIDS', message }]);
  },
};

/** The policies of the run, outermost first. */
const policies: Judge = {
  stage: 'policy',
  judge(action, walk) {
    const { policies: given } = walk.input.limits;
    if (given === undefined) return NOTHING;
    const findings = rulesFor(given, factsOf(action, walk)).map((rule) => ruled(action, rule));
    // What an edit brings to another run is done with that run's policies, and not with these.
    const edits = editsOther(action, walk)
      ? [asked('edits-other-runs', 'it edits another run, which this policy does not reach')]
      : [];
    const found = [...findings, ...edits];
    return found.length === 0 ? ALLOWS.policy : inStage('policy', found);
  },
};

const asked = (rule: string, why: string): Finding => ({ rule, verdict: 'ask', why, isRule: true });

function ruled({ effect }: Action, { name, verdict, reason }: PolicyRule): Finding {
  if (verdict === 'allow') return { rule: name, verdict, isRule: true };
  if (verdict === 'ask') return asked(name, reason);
  return {
    rule: name,
    isRule: true,
    verdict,
    why: reason,
    code: 'POLICY_REFUSED',
    message: `${effect.key}: the rule "${name}" of the run's policy refuses it: ${reason}`,
    details: { rule: name, reason },
  };
}

export function editsOther({ effect }: Action, { input: { catalogue, handle } }: Walk): boolean {
  if (effect.type !== 'command') return false;
  const { otherRuns, uses } = entryOf(catalogue, effect.command);
  // Which run its code edits is not known before.
  return uses?.edits === true || (otherRuns === 'edits' && effect.params['sentinelId'] !== handle);
}

export function factsOf({ effect, by, permission }: Action, { input: { catalogue, project } }: Walk): ActionFacts {
  const facts = { by, permission, project };
  switch (effect.type) {
    case 'shell': {
      const { command, args, cwd, env, stdin } = effect;
      const said = Object.entries({ command, args, cwd, env, stdin }).filter(([, value]) => value !== undefined);
      return { ...facts, kinds: ['shell'], command: SHELL_COMMAND, value: Object.fromEntries(said) as Json };
    }
    case 'command': {
      const { command, params, resolved = null } = effect;
      const value = resolved === null ? params : { ...params, resolved };
      return { ...facts, kinds: kindsOfCommand(catalogue, command, params), command, value };
    }
    case 'turn':
      return { ...facts, kinds: ['llm'], value: { images: effect.opening.images as unknown as Json } };
    case 'emit':
    case 'sentinel':
    case 'watch':
      return { ...facts, kinds: [effect.type], value: null };
    default:
      return effect satisfies never;
  }
}

const nesting: Judge = {
  stage: 'limits',
  judge({ effect }, { input: { depth, limits } }) {
    const starts = effect.type === 'sentinel' || (effect.type === 'command' && effect.starts !== undefined);
    const depthMax = limits.nestingDepth ?? nestingSentinelsMax;
    if (!starts || depth < depthMax) return ALLOWS.nesting;
    const why = `sentinels are nested ${depth} deep, and ${depthMax} is the limit`;
    const message = `${effect.key}: ${why}`;
    return inStage('limits', [{ rule: 'nesting', verdict: 'refuse', why, code: 'NESTING_TOO_DEEP', message }]);
  },
};

function spent(rule: string, key: string, limit: Limit): Verdict[] {
  const why = `the limit ${limit} is reached`;
  return inStage('limits', [{ rule, verdict: 'refuse', why, code: 'LIMIT_REACHED', message: `${key}: ${why}`, limit }]);
}

/** A clean-up has a time of its own. */
const time: Judge = {
  stage: 'limits',
  judge({ effect }, walk, strand) {
    const limit = shieldOf(strand) === null ? limitReached(walk) : null;
    return limit === null ? ALLOWS.time : spent('time', effect.key, limit);
  },
};

const budget: Judge = {
  stage: 'limits',
  judge({ effect }, walk, strand) {
    const limit = lackingFor(walk, strand, priceOf(effect));
    return limit === null ? ALLOWS.budget : spent('budget', effect.key, limit);
  },
};

/** `safety.requireApproval`, its own and what is inherited. */
const approval: Judge = {
  stage: 'approval',
  judge({ effect, permission }, { input: { catalogue, handle, limits } }) {
    const { requireApproval = [] } = limits;
    const commanded =
      effect.type === 'command' ? { command: effect.command, params: effect.params, handle } : undefined;
    if (permission === null || !isToApprove(catalogue, requireApproval, permission, commanded)) return ALLOWS.approval;
    const rule = 'approval';
    const action = approvalRule(limits, permission);
    if (action === 'notify') return inStage('approval', [{ rule, verdict: 'allow', isTold: true }]);
    const why = (requireApproval as readonly string[]).includes(permission)
      ? `"requireApproval" names ${permission}`
      : 'it edits another run, and "requireApproval" is stated';
    if (action === 'pause') return inStage('approval', [{ rule, verdict: 'ask', why }]);
    const message = `${effect.key}: the definition lets nobody approve it`;
    return inStage('approval', [{ rule, verdict: 'refuse', why, code: 'APPROVAL_REJECTED', message }]);
  },
};

const JUDGES: readonly Judge[] = [foreseen, reservedEvents, mode, policies, nesting, time, budget, approval];

/** What the list says of an action: all verdicts in order, up to the first refusal. */
export function judge(action: Action, walk: Walk, strand: Strand, judges: readonly Judge[] = JUDGES): Verdict[] {
  const verdicts: Verdict[] = [];
  for (const one of judges) {
    for (const verdict of one.judge(action, walk, strand)) {
      verdicts.push(verdict);
      if (verdict.verdict === 'refuse') return verdicts;
    }
  }
  return verdicts;
}

export const failureOf = ({ code, message, details }: Refusal): FailureInfo => ({
  code,
  message,
  retryable: false,
  ...defined({ details }),
});

const RIGHTS = JUDGES.filter(({ stage }) => stage === 'simulate' || stage === 'policy');

/** Whether an action may be at all, which is said before what is wrong with how it is written. */
export function refusedAction(walk: Walk, strand: Strand, effect: Effect): FailureInfo | null {
  const verdicts = judge(actionOf(walk, effect), walk, strand, RIGHTS);
  const refusal = refusalIn(verdicts);
  if (refusal === null) return null;
  walk.host.judged(effect.key, verdicts);
  return failureOf(refusal);
}
