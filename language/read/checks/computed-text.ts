/** Values that are meant to be computed and stay text: an expression outside braces, where a variable is set or an output is declared. */
import { parseExpression } from '../../expression/parse.ts';
import type { Problem } from '../../problems.ts';
import { isPlain, join, type Origins } from '../draft/draft.ts';
import type { Sites } from '../inventory/sites.ts';

export function checkComputedText(sites: Sites, origins: Origins): Problem[] {
  return [
    ...sites.steps.flatMap(({ step, path }) =>
      step.type === 'set' ? textsIn(step.values, origins.locate(step, path, ['values'])) : [],
    ),
    ...sites.definitions.flatMap(({ value, path }) => textsIn(value.outputs, origins.locate(value, path, ['outputs']))),
  ];
}

function textsIn(value: unknown, path: string): Problem[] {
  if (typeof value === 'string') return isMeantComputed(value) ? [computedText(value, path)] : [];
  if (!Array.isArray(value) && !isPlain(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, join(path, key)));
}

/** `$n + 1`, `{{n}} + 1`; without white space only what is no name of a file or a date. */
const OPERATOR = /\s(?:[-+*/%<>]|[=!]==?|<=|>=|&&|\|\||\?\?|\?)\s|[\w}\])]\s*[+*%]\s*[\w${(]/;
const REFERENCE = /\$[A-Za-z_]|\{\{/;
const COMPUTED: ReadonlySet<string> = new Set(['binary', 'choice', 'unary']);

function isMeantComputed(text: string): boolean {
  if (!REFERENCE.test(text) || !OPERATOR.test(text)) return false;
  const parsed = parseExpression(text);
  return parsed.ok && COMPUTED.has(parsed.expression.root.type);
}

function computedText(text: string, path: string): Problem {
  const expression = text
    .replaceAll(/\{\{\s*|\s*\}\}/g, '')
    .replaceAll(/\$(?=[A-Za-z_])/g, '')
    .trim();
  const fix = `write "{{${expression}}}"`;
  const message = `${JSON.stringify(text)} is text with references in it, and nothing is computed; ${fix} for the value of the expression`;
  return { code: 'EXPRESSION_AS_TEXT', severity: 'warning', path, message, fix };
}
