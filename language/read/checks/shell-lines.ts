/** Lines for a shell: references behind a sign of the shell's, and names that a line sets by itself and reads after that. */
import { shellLineOf, type Catalogue } from '../../catalogue.ts';
import { BUILT_INS } from '../../expression/scope.ts';
import type { Problem } from '../../problems.ts';
import { namesOfShell } from '../../references/shell-line.ts';
import type { Origins } from '../draft/draft.ts';
import type { Place, Sites } from '../inventory/sites.ts';
import { isSet, namesSet } from './references.ts';

export function checkShellLines(sites: Sites, origins: Origins, catalogue: Catalogue): Problem[] {
  const names = namesSet(sites);
  return sites.steps.flatMap(({ step, path, place }): Problem[] => {
    const line =
      step.type === 'shell' ? step.command : step.type === 'command' ? shellLineOf(catalogue, step) : undefined;
    if (line === undefined) return [];
    const at = origins.locate(step, path, step.type === 'shell' ? ['command'] : ['params', 'command']);
    // With arguments of its own it is a program.
    const read = step.type === 'shell' && step.args !== undefined ? [] : namesOfShell(line);
    const both = read.filter(
      (name) => BUILT_INS.has(name) || isItem(name, place) || isSet(name, place.definition, names),
    );
    return [...dollarBraces(line, at), ...both.map((name) => shellName(name, at))];
  });
}

/** The sign before the braces stays, and the shell may read it with the value. */
function dollarBraces(line: string, path: string): Problem[] {
  const written = /(?<!\\)\$(\{\{[^{}\n]{1,100}\}\})/.exec(line);
  if (written?.[1] === undefined) return [];
  const fix = `write ${written[1]}`;
  const message = `${written[0]} is a reference behind a "$", which stays in the line; ${fix}, or \\${written[0]} where the sign is meant`;
  return [{ code: 'BAD_REFERENCE', severity: 'warning', path, message, fix }];
}

const isItem = (name: string, { loops }: Place): boolean => loops.some(({ loop }) => 'as' in loop && loop.as === name);

function shellName(name: string, path: string): Problem {
  const fix = `give the shell's own variable another name, or write {{${name}}} for that of the definition`;
  const message = `the line sets "${name}" by itself, so $${name} after that is the shell's, and not the variable of the definition; ${fix}`;
  return { code: 'SHELL_SETS_NAME', severity: 'warning', path, message, fix };
}
