/** An expression in the signs of other languages, in those of this one: `${a} and not $b = 1`. */
import { parseExpression } from '../../expression/parse.ts';

const QUOTED = /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/;

const SIGNS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\$\{\{/g, '{{'],
  [/\$\{\s*([\w.]+)\s*\}/g, '$$$1'],
  [/\bis\s+not\b/gi, '!='],
  [/\bis\b/gi, '=='],
  [/\band\b/gi, '&&'],
  [/\bor\b/gi, '||'],
  [/\bnot\b/gi, '!'],
  [/(?<![=!<>])=(?![=>])/g, '=='],
  [/<>/g, '!='],
];

const lengthMax = 200;

/** What to write in place of it, where that can be read. */
export function expressionFix(text: string): string | undefined {
  if (text.length > lengthMax || text.includes('`')) return undefined;
  const parts = text
    .split(QUOTED)
    .map((part, index) =>
      index % 2 === 1 ? part : SIGNS.reduce((so, [sign, ours]) => so.replaceAll(sign, ours), part),
    );
  const fixed = parts.join('');
  return fixed !== text && parseExpression(fixed).ok ? `write ${fixed}` : undefined;
}
