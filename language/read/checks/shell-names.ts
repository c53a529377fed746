/** Command lines that set a name by themselves which is also a variable of the definition, and read it after that. */
import { shellLineOf, type Catalogue } from '../../catalogue.ts';
import { BUILT_INS } from '../../expression/scope.ts';
import type { Problem } from '../../problems.ts';
import { namesOfShell } from '../../references/shell-line.ts';
import type { Origins } from '../draft/draft.ts';
import type { Place, Sites } from '../inventory/sites.ts';
import { isSet, namesSet } from './references.ts';

export function checkShellNames(sites: Sites, origins: Origins, catalogue: Catalogue): Problem[] {
  const names = namesSet(sites);
  return sites.steps.flatMap(({ step, path, place }): Problem[] => {
    const line =
      step.type === 'shell' && step.args === undefined
        ? step.command
        : step.type === 'command'
          ? shellLineOf(catalogue, step)
          : undefined;
    if (line === undefined) return [];
    const at = origins.locate(step, path, step.type === 'shell' ? ['command'] : ['params', 'command']);
    return namesOfShell(line)
      .filter((name) => BUILT_INS.has(name) || isItem(name, place) || isSet(name, place.definition, names))
      .map((name) => shellName(name, at));
  });
}

const isItem = (name: string, { loops }: Place): boolean => loops.some(({ loop }) => 'as' in loop && loop.as === name);

function shellName(name: string, path: string): Problem {
  const fix = `give the shell's own variable another name, or write {{${name}}} for that of the definition`;
  const message = `the line sets "${name}" by itself, so $${name} after that is the shell's, and not the variable of the definition; ${fix}`;
  return { code: 'SHELL_SETS_NAME', severity: 'warning', path, message, fix };
}
