/**
 * References to what is set on some ways through the definition only: in one branch of a condition, or by a step whose
 * failure is skipped. Where a run comes by another way, a command line fails, and other texts are empty.
 */
import type { Problem } from '../../problems.ts';
import type { Step } from '../../model.ts';
import { namesOfShell } from '../../references/shell-line.ts';
import { variablesSetBy } from '../../references/variables-set.ts';
import type { ReferenceSite } from '../inventory/collect-references.ts';
import type { Setter, Setters, Way } from '../inventory/setters.ts';

/** In a command line a name may be the shell's: where only a step is called so, or the step or the line sets it itself. */
export function isShells({ from, name, reader }: ReferenceSite, setter: Step): boolean {
  if (from !== 'shell') return false;
  if (!variablesSetBy(setter).includes(name)) return true;
  const step = reader as Step;
  if (step.type === 'shell') return Object.hasOwn(step.env ?? {}, name) || namesOfShell(step.command).includes(name);
  const line = step.type === 'command' ? step.params?.['command'] : undefined;
  return typeof line === 'string' && namesOfShell(line).includes(name);
}

/** Conditions have no value to lack: a check asks. What has a default has one. */
const asks = ({ from, written }: ReferenceSite): boolean => from === 'expression' || /\|\||\?|&&/.test(written);

/** `before`: the steps that set it and come before the reader. */
export function checkPaths(
  reference: ReferenceSite,
  before: readonly Setter[],
  reader: Setter,
  setters: Setters,
): Problem[] {
  if (asks(reference)) return [];
  const lacks = before.map((setter) => lackOf(setter, reader, reference, setters));
  if (lacks.includes(null) || isOnEveryWay(lacks)) return [];
  const where = [...new Set(lacks.map((lack) => lack?.said ?? ''))].join(' and ');
  const { written, name, at: path } = reference;
  const fix = `give "${name}" a value in "inputs", or write {{${name} || 'text'}}`;
  const what = reference.from === 'shell' ? 'the command line then fails' : 'it is empty then';
  const message = `${written} has a value only where ${where}, and ${what}; ${fix}`;
  return [{ code: 'SET_ON_SOME_PATHS', severity: 'warning', path, message, fix }];
}

interface Lack {
  said: string;
  way?: Way;
}

/** Where alone a step sets it; null where every way to the reader leads through it. */
function lackOf(setter: Setter, reader: Setter, { name, from }: ReferenceSite, setters: Setters): Lack | null {
  const { path, step } = setter.site;
  const around = setters.waysTo(reader.site);
  const way = setters
    .waysTo(setter.site)
    .find(({ condition, key }) => !around.some((other) => other.condition === condition && other.key === key));
  if (way !== undefined) {
    // A reader for which the same is asked, or which asks for the name, knows; and a clean-up tells what there was.
    const isKnown = around.some(({ condition, check, key }) =>
      key === 'always'
        ? condition === way.condition && from !== 'shell'
        : typeof check === 'string' && (check === way.check || check.includes(name)),
    );
    return isKnown ? null : { said: `${path} sets it, in a branch of a condition`, way };
  }
  const isSkipped = from === 'shell' && 'onError' in step && step.onError === 'skip';
  return isSkipped ? { said: `${path} does not fail` } : null;
}

/** Both branches of one condition set it. */
function isOnEveryWay(lacks: readonly (Lack | null)[]): boolean {
  const ways = lacks.flatMap((lack) => lack?.way ?? []);
  return ways.some(({ condition, key }) => ways.some((other) => other.condition === condition && other.key !== key));
}
