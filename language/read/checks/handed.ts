/**
 * Definitions that are handed to `sentinel/run` or `sentinel/create`: what takes them reads them, and what is
 * wrong with them would be found only then. It is told as a warning, because the step may be meant to fail.
 */
import { type Catalogue, type CommandFacts, findCommand } from '../../catalogue.ts';
import type { Problem } from '../../problems.ts';
import { isFilePath } from '../../references/written-references.ts';
import { isPlain, type Origins } from '../draft/draft.ts';
import { withoutDraftKeys } from '../draft/draft-keys.ts';
import { withoutFile } from '../draft/mounts.ts';
import type { Sites } from '../inventory/sites.ts';

/** What the store may know by then. */
const KNOWN_LATER: ReadonlySet<string> = new Set(['UNKNOWN_DEFINITION', 'REFERENCE_CYCLE', 'NESTING_TOO_DEEP']);

/** What comes of a definition that cannot be read, by what the command does with it. */
const CONSEQUENCES: { readonly [does in NonNullable<CommandFacts['otherRuns']>]?: string } = {
  starts: 'the run cannot be started',
  defines: 'the definition cannot be stored',
};

export function checkHanded(
  sites: Sites,
  origins: Origins,
  catalogue: Catalogue,
  problemsOf: (definition: object) => readonly Problem[],
): Problem[] {
  return sites.steps.flatMap(({ step, path }): Problem | Problem[] => {
    const does = step.type === 'command' ? findCommand(catalogue, step.command)?.otherRuns : undefined;
    const consequence = does === undefined ? undefined : CONSEQUENCES[does];
    if (step.type !== 'command' || consequence === undefined) return [];
    const definition = step.params?.['definition'];
    const ref = isPlain(definition) ? definition['$ref'] : definition;
    if (typeof ref === 'string' && isFilePath(ref))
      return {
        code: 'BAD_FILE_REFERENCE',
        severity: 'warning',
        path: origins.locate(step, path, ['params', 'definition', ...(ref === definition ? [] : ['$ref'])]),
        message: `${consequence}: ${withoutFile(ref)}`,
      };
    if (!isPlain(definition) || Object.hasOwn(definition, '$ref')) return [];
    const errors = problemsOf(does === 'defines' ? withoutDraftKeys(definition).definition : definition).filter(
      ({ code, severity }) => severity === 'error' && !KNOWN_LATER.has(code),
    );
    return errors.map((problem): Problem => {
      const inside = ['params', 'definition', ...(problem.path === '' ? [] : problem.path.split('.'))];
      return {
        ...problem,
        severity: 'warning',
        path: origins.locate(step, path, inside),
        message: `${consequence}: ${problem.message}`,
      };
    });
  });
}
