/** Parameters that are written out, held against what their command takes, where that is known. */
import { valueAt, type Json } from '../../json.ts';
import type { ParamCheck, ParamFault } from '../../params/param-check.ts';
import type { Problem } from '../../problems.ts';
import { isTemplate } from '../../references/written-references.ts';
import type { Origins } from '../draft/draft.ts';
import type { Sites } from '../inventory/sites.ts';
import { nearestFix } from '../remedies/meant-word.ts';
import { defined } from '../../defined.ts';

/** Keys hold no references, whatever their values are. */
const isOfKeys = ({ code, path }: ParamFault): boolean =>
  code === 'UNKNOWN_KEY' || (code === 'MISSING_KEY' && path.length === 0);

export function checkParams(sites: Sites, origins: Origins, check: ParamCheck | undefined): Problem[] {
  if (check === undefined) return [];
  return sites.steps.flatMap(({ step, path }) => {
    if (step.type !== 'command') return [];
    const { command, params = {} } = step;
    const known = check(command, params).filter((fault) => isOfKeys(fault) || !isOpen(params, fault));
    return known.map(({ code, path: at, message, taken }): Problem => {
      const fix = taken === undefined ? undefined : nearestFix(at.at(-1) ?? '', taken).fix;
      const instead = fix ?? (taken === undefined || taken.length === 0 ? undefined : `there are ${taken.join(', ')}`);
      const what = at.length === 0 ? 'what it is given' : `the parameter "${at.join('.')}"`;
      return {
        code,
        severity: 'error',
        path: origins.locate(step, path, ['params', ...at]),
        message: `"${command}": ${what} ${message.startsWith('is ') ? message : `does not fit: ${message}`}${instead === undefined ? '' : `; ${instead}`}`,
        ...defined({ fix }),
      };
    });
  });
}

/** What a reference stands for is known when a run reaches it. */
function isOpen(params: Json, { path }: ParamFault): boolean {
  const holds = (value: Json): boolean => {
    if (typeof value === 'string') return isTemplate(value);
    return typeof value === 'object' && value !== null && Object.values(value).some((part) => holds(part));
  };
  // Of a place that is not there, what stands around it decides: a reference has no fields to read here.
  for (let length = path.length; length >= 0; length -= 1) {
    const value = valueAt(params, path.slice(0, length));
    if (value !== undefined) return length === path.length ? holds(value) : typeof value === 'string';
  }
  return false;
}
