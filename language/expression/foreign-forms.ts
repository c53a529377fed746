/**
 * Forms of JavaScript that are no part of the language, with the nearest that is. Looked for in the text of an
 * expression that was refused, without what stands in quotes: the parser speaks of a character, and this of what was meant.
 */
const FORMS: ReadonlyArray<readonly [form: RegExp, sentence: string]> = [
  [
    /(?:^|[(,=!&|?:[{;+])\s*\/(?![*/\s])(?:\\.|[^/\\\n]){1,200}\//,
    "patterns (/…/) are not part of the expression language; texts are looked at with .includes('…'), .startsWith('…') or .endsWith('…'), and \"grep\" in a shell step reads patterns",
  ],
  [
    /(?<![.\w$])typeof\b/,
    '"typeof" is not part of the expression language; what is not there is undefined ($x === undefined), a list is told by Array.isArray($x), and a whole number by Number.isInteger($x)',
  ],
  [
    /(?<![.\w$])new\s+Date\b/,
    '"new" is not part of the expression language; the time is a variable: $NOW, and since the run began $ELAPSED_MS',
  ],
  [
    /(?<![.\w$])new\s+[A-Za-z]/,
    '"new" is not part of the expression language; a list is written [1, 2], an object {a: 1}',
  ],
  [
    /=>\s*\{/,
    'a function (=>) has one expression and no body: x => x.ok; an object stands in parentheses: x => ({a: x})',
  ],
  [/(?<![.\w$])function\b/, '"function" is not part of the expression language; write x => x.ok inside a method'],
  [/(?<![.\w$])(?:async|await)\b/, 'nothing in an expression waits; a step does, and its result is a variable'],
  [
    /(?<![.\w$])instanceof\b/,
    '"instanceof" is not part of the expression language; a list is told by Array.isArray($x)',
  ],
  [
    /[\w$)\]}]\s+in\s+[\w$([{]/,
    '"in" is not part of the expression language; write $list.includes(x), or $object.name !== undefined',
  ],
  [
    /(?:^|[;{}])\s*(?:if|else|for|while|do|switch|return|throw|try|delete|void|class|yield|let|const|var)\b/,
    'an expression is one value and no statement; write $x ? a : b for "if", and a step of type "set" for a variable',
  ],
  [
    /\+\+|(?:[\w)\]]|^)\s*--/,
    'an expression changes no variable; write $x + 1, and a step of type "set" where the variable is to change',
  ],
  [
    /(?:[-+*/%&|^]|\?\?)=(?!=)/,
    'an expression sets no variable; a step of type "set" does: {"type": "set", "values": {"x": "{{x + 1}}"}}',
  ],
  [/\*\*/, 'the operator "**" is not part of the expression language; write Math.pow(a, b)'],
  [
    /(?:[(,]\s*)\.\.\.[^)]*\)/,
    '"..." stands in [ ] and { }, and not in a call; write $list.reduce((most, x) => Math.max(most, x), $list[0]) for the largest',
  ],
  [/[\w$)\]]`/, 'a template (`…`) has no name before it'],
  [/(?<![\w$.])0[xXbBoO][\da-fA-F]|(?<![\w$.])\d+(?:n\b|_\d)/, 'a number is written in decimal digits'],
];

const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;

/** What to say of the first form that is found in a refused expression. */
export function foreignForm(text: string): string | undefined {
  const bare = text.replaceAll(QUOTED, "''");
  return FORMS.find(([form]) => form.test(bare))?.[1];
}
