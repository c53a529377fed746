/** The names that a definition reads anywhere: what of its inputs it could notice. */
import { parseExpression, referencesOf } from '../expression/parse.ts';
import type { Definition } from '../model.ts';
import { referencesIn } from '../references/written-references.ts';

/** `all`: it hands its inputs on as a whole, or to a definition that is known only when it runs, or computes a name. */
export interface NamesRead {
  names: ReadonlySet<string>;
  all: boolean;
}

const EXPRESSIONS: ReadonlySet<string> = new Set(['check', 'max', 'over', 'stopWhen', 'filter']);

/** `{{{{which}}}}` */
const COMPUTED = /\{\{\s*\{\{/;

/** Of several, because a nested run sees the variables around it. */
export function namesRead(definitions: readonly Definition[]): NamesRead {
  const found = { names: new Set<string>(), all: false };
  for (const definition of definitions) visit(definition, '', found);
  return found;
}

function visit(value: unknown, key: string, found: { names: Set<string>; all: boolean }): void {
  if (typeof value === 'string') {
    for (const { name, path } of readIn(value, key)) {
      if (name !== 'input') found.names.add(name);
      else if (path[0] === undefined) found.all = true;
      else found.names.add(path[0]);
    }
    if (COMPUTED.test(value) || (key === '$ref' && referencesIn(value).length > 0)) found.all = true;
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [inner, item] of Object.entries(value)) visit(item, Array.isArray(value) ? key : inner, found);
}

function readIn(text: string, key: string): { name: string; path: readonly string[] }[] {
  if (!EXPRESSIONS.has(key)) return referencesIn(text);
  const parsed = parseExpression(text);
  return parsed.ok ? [...referencesIn(text), ...referencesOf(parsed.expression)] : referencesIn(text);
}
