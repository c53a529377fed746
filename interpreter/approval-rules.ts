/**
 * Which actions of a run wait for approval, and how that is decided. A class that has to be approved is inherited with
 * the rule of the run that says so: nothing inside answers in place of the persona whom that run would ask.
 */
import type { Definition, EscalationRule } from '../language/model.ts';
import type { RunLimits } from './effect.ts';
import { ruleFor } from './program.ts';

type Action = EscalationRule['action'];

const LAX_FIRST: readonly Action[] = ['notify', 'pause', 'abort'];

/** Where nothing is said, the persona is asked. */
const strictest = (said: readonly Action[]): Action => LAX_FIRST.findLast((action) => said.includes(action)) ?? 'pause';

/** What somebody around a run wants to approve, nobody inside takes away. */
export function approvalsOf({ safety }: Definition, inherited: RunLimits | null): RunLimits['requireApproval'] {
  const classes = [...new Set([...(inherited?.requireApproval ?? []), ...(safety?.requireApproval ?? [])])];
  return classes.length === 0 ? undefined : classes;
}

/** A definition's own rule holds for the classes that it names itself, and for others where it is stricter. */
export function unaskedOf(definition: Definition, inherited: RunLimits | null): RunLimits['unasked'] {
  const own = ruleFor(definition, 'approval_needed')?.action;
  const unasked: NonNullable<RunLimits['unasked']> = {};
  for (const name of approvalsOf(definition, inherited) ?? []) {
    const said: Action[] = own === undefined ? [] : [own];
    if (inherited?.requireApproval?.includes(name) === true) said.push(inherited.unasked?.[name] ?? 'pause');
    if (own === undefined && definition.safety?.requireApproval?.includes(name) === true) said.push('pause');
    const action = strictest(said);
    if (action !== 'pause') unasked[name] = action;
  }
  return Object.keys(unasked).length === 0 ? undefined : unasked;
}

/** An action that has to be approved although its class has not goes by the strictest of the rules. */
export function approvalRule({ requireApproval = [], unasked = {} }: RunLimits, permission: string): Action {
  const named = requireApproval.filter((name) => name === permission);
  return strictest((named.length === 0 ? requireApproval : named).map((name) => unasked[name] ?? 'pause'));
}
