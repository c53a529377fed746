/** Steps that are to be tried again, or to end their siblings, when they fail, and that hardly can: an exit code is a result. */
import { blocksOf } from '../../blocks.ts';
import { SHELL_COMMAND } from '../../catalogue.ts';
import { failsByExitCode, isShell } from '../../failure.ts';
import type { Definition, Step } from '../../model.ts';
import type { Problem } from '../../problems.ts';
import { isPlain, type Origins } from '../draft/draft.ts';
import type { DefinitionSite, Sites, StepSite } from '../inventory/sites.ts';

export function checkNeverFails(sites: Sites, origins: Origins): Problem[] {
  const known = new Map<object, StepSite>(sites.steps.map((site) => [site.step, site]));
  const idle = sites.steps.flatMap((site) => [...withoutExitCode(site, origins), ...triedInVain(site, origins, known)]);
  return [
    ...idle,
    ...sites.steps
      .flatMap(({ step }) => (step.type === 'parallel' && step.failFast === true ? (step.branches ?? []) : []))
      .flatMap((branch) => endingNothing(branch, known)),
  ];
}

function withoutExitCode({ step, path }: StepSite, origins: Origins): Problem[] {
  if (step.type !== 'command' || step.failOn === undefined || isShell(step)) return [];
  const why = step.command === SHELL_COMMAND ? 'nothing waits for its exit code' : `${step.command} has no exit code`;
  return [
    {
      code: 'KEY_WITHOUT_EFFECT',
      severity: 'warning',
      path: origins.locate(step, path, ['failOn']),
      message: `"failOn" has no effect: ${why}`,
      fix: 'remove "failOn"',
    },
  ];
}

type Known = ReadonlyMap<object, StepSite>;

function triedInVain({ step, path, place }: StepSite, origins: Origins, known: Known): Problem[] {
  const key = step.retry === undefined ? 'onError' : 'retry';
  const isTried = step.retry === undefined ? step.onError === 'retry' : step.retry.attempts > 1;
  if (!isTried) return [];
  const inner = stepsWithin(step);
  const isIdle = inner.length === 0 ? hardlyFails(step, place.definition) : idleIn(inner, known) !== undefined;
  return isIdle ? [problem(origins.locate(step, path, [key]), 'it is not tried again')] : [];
}

/** Whether an exit code other than 0 passes as a result, and nobody said that it is to. */
function hardlyFails(step: Step, definition: DefinitionSite): boolean {
  const isStated = 'failOn' in step && step.failOn !== undefined;
  return isShell(step) && !isStated && !failsByExitCode(step, defaultsAt(definition));
}

function defaultsAt(site: DefinitionSite): Definition['defaults'] {
  const { defaults } = site.value;
  const shell = isPlain(defaults) ? defaults['shell'] : undefined;
  const failOn = isPlain(shell) ? shell['failOn'] : undefined;
  if (failOn === 'never' || failOn === 'nonzero') return { shell: { failOn } };
  return site.parent === undefined ? undefined : defaultsAt(site.parent.definition);
}

function endingNothing(branch: readonly Step[], known: Known): Problem[] {
  const first = idleIn(branch, known);
  return first === undefined ? [] : [problem(first.path, '"failFast" cancels no other branch')];
}

/** The first of the steps, where none of them can fail; one that can may well look at the exit code of another. */
function idleIn(steps: readonly Step[], known: Known): StepSite | undefined {
  const sites = leavesOf(steps, known);
  const idle = sites.filter((site) => site !== undefined && hardlyFails(site.step, site.place.definition));
  return idle.length < sites.length ? undefined : idle[0];
}

/** Steps that do something, and can fail for it; undefined for one that the schema refused: nobody knows what it will do. */
function leavesOf(steps: readonly Step[], known: Known): Array<StepSite | undefined> {
  return steps.flatMap((step) => {
    const site = known.get(step);
    if (site === undefined) return [undefined];
    const inner = stepsWithin(step);
    if (inner.length > 0) return leavesOf(inner, known);
    return step.type === 'emit' || step.type === 'set' ? [] : [site];
  });
}

/** A run that is waited for fails where one of its steps does. */
function stepsWithin(step: Step): readonly Step[] {
  if (step.type !== 'sentinel') return blocksOf(step).flatMap(({ steps }) => steps);
  const definition: unknown = step.await === false ? undefined : step.definition;
  const steps = isPlain(definition) ? definition['steps'] : undefined;
  return Array.isArray(steps) ? (steps as Step[]) : [];
}

function problem(path: string, effect: string): Problem {
  const fix = 'write "failOn": "nonzero"';
  return {
    code: 'NEVER_FAILS',
    severity: 'warning',
    path,
    message: `an exit code other than 0 is a result and fails no step, so ${effect} after one; ${fix}, or "failOn": "never" if that is meant`,
    fix,
  };
}
