/** Texts that look like references to something that is there, cannot be read, and so would stay text unnoticed. */
import { quotedLabel } from '../../expression/braces.ts';
import { foreignForm } from '../../expression/foreign-forms.ts';
import { LIBRARIES } from '../../expression/convert.ts';
import { variablesSetBy } from '../../references/variables-set.ts';
import type { Problem } from '../../problems.ts';
import { BUILT_INS } from '../../expression/scope.ts';
import { inputNames } from '../../inputs/declared-inputs.ts';
import type { UnreadSite } from '../inventory/collect-references.ts';
import type { Sites } from '../inventory/sites.ts';
import { unknownCall } from '../remedies/unknown-call.ts';
import { BRACE_ROOTS } from './references.ts';

export function checkUnread(sites: Sites, unread: readonly UnreadSite[]): Problem[] {
  if (unread.length === 0) return [];
  const labels = sites.steps
    .flatMap(({ step }) => [step.name, ...variablesSetBy(step)])
    .filter((label) => label !== undefined);
  const names = new Set([...labels, ...inputsOf(sites), ...itemsOf(sites), ...BRACE_ROOTS, ...BUILT_INS]);
  return unread.flatMap(({ name, content, written, finding, remedy, unknown, at, inQuotes }): Problem[] => {
    const label = labels.find((known) => begins(content, known) || begins(content, `named.${known}`));
    const known = names.has(name) ? name : wordsIn(content).find((word) => names.has(word));
    if (label === undefined && known === undefined && name !== '' && !OF_JAVASCRIPT.has(name)) return [];
    const isLabel = name === 'named' || (label !== undefined && label !== name);
    const fix =
      remedy ??
      (inQuotes === true
        ? `take the quotes off: ${written}`
        : isLabel
          ? quotedFix(label)
          : known === undefined || unknown !== undefined || foreignForm(content) !== undefined
            ? 'write what expressions can read'
            : `write {{${known}}}, with a path behind the name`);
    const literally = written.startsWith('$') ? '\\$' : '\\{{';
    const message = `${written} looks like a reference and stays text: ${unknown === undefined ? finding : unknownCall(unknown)}; ${fix}, or ${literally} where the text is meant`;
    return [{ code: 'BAD_REFERENCE', severity: 'warning', path: at, message, fix }];
  });
}

/** What nobody writes in braces who does not mean it to be computed. */
const OF_JAVASCRIPT: ReadonlySet<string> = new Set([...LIBRARIES, 'new', 'typeof', 'await']);

/** Names in a text that may be read by themselves: not fields, and nothing in quotes. */
function wordsIn(content: string): string[] {
  return content.replaceAll(/'[^']*'|"[^"]*"/g, '').match(/(?<![.\w$])[A-Za-z_]\w*/g) ?? [];
}

function quotedFix(label = 'LABEL'): string {
  const quoted = quotedLabel(label);
  return quoted === undefined
    ? 'give the step a name of plain words, and write {{named.NAME.data}} with that name'
    : `write {{${quoted}.data}}`;
}

const begins = (content: string, label: string): boolean => content === label || content.startsWith(`${label}.`);

const inputsOf = ({ definitions }: Sites): string[] => definitions.flatMap(({ value }) => inputNames(value));

const itemsOf = ({ loops }: Sites): string[] =>
  loops.flatMap(({ loop }) => ('as' in loop && loop.as !== undefined ? [loop.as] : []));
