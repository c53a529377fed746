/**
 * `{{…}}`: where a pair of double braces ends and what stands between them.
 *
 * Between them is a path (`steps.0.output`, `named["My step"].data`), a path whose parts come from inner braces
 * (`topics.{{input.iteration}}`), or an expression (`files.length > 2 ? 'many' : 'few'`). Braces lie
 * on one line; of braces inside braces the innermost five levels are read.
 */
import { bracesLengthMax, bracesNestedMax, expressionDepthMax } from '../limits.ts';

/** Literal text, or the content of inner braces. */
export type Piece = string | { readonly inner: string };

export type BraceContent =
  | { readonly type: 'path'; readonly pieces: readonly Piece[] }
  | { readonly type: 'expression'; readonly source: string };

const PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+|\[\d{1,10}\])*$/;
/** A step's label may be any text: words with spaces between them stand as they are, anything else in quotes. */
const LABELLED =
  /^named(?:\.[\p{L}\p{N}_][\p{L}\p{N}_-]*(?: +[\p{L}\p{N}_][\p{L}\p{N}_-]*)+|\["[^"[\]{}]+"\]|\['[^'[\]{}]+'\])(?:\.[A-Za-z0-9_-]+|\[\d{1,10}\])*$/u;
const LABELLED_KEYS = /\["([^"]+)"\]|\['([^']+)'\]|[^.[\]]+/g;

const isPath = (text: string): boolean => PATH.test(text) || LABELLED.test(text);

/**
 * The index after the braces that begin at `at`; undefined when what stands there is plain text. Single braces
 * inside them are an object of the expression, and pair up among themselves.
 */
export function endOfBraces(text: string, at: number): number | undefined {
  const open: ('{' | '{{')[] = [];
  let doubles = 0;
  const last = Math.min(text.length, at + bracesLengthMax);
  for (let here = at; here < last; here += 1) {
    const char = text.charAt(here);
    if (char === '\n' || char === '\r') return undefined;
    if (char !== '{' && char !== '}') continue;
    const isDouble = text.charAt(here + 1) === char;
    if (char === '{') {
      open.push(isDouble ? '{{' : '{');
      doubles += isDouble ? 1 : 0;
      // In a row of an odd number the first is text: `{{{name}}}` is a reference in a pair of braces.
      if (!isDouble && text.charAt(here - 1) === '{') return undefined;
    } else {
      if (open.pop() === '{') continue;
      if (!isDouble) return undefined;
      doubles -= 1;
    }
    if (doubles > bracesNestedMax || open.length > expressionDepthMax) return undefined;
    if (isDouble) here += 1;
    if (open.length === 0) return here + 1;
  }
  return undefined;
}

/** What keeps the braces that begin at `at` from being read, when they have no end. */
export function findingOfOpenBraces(text: string, at: number): { finding: string; remedy?: string } {
  const inner = text.slice(at, at + bracesLengthMax).split('}}', 2);
  return inner.length === 2 && /[\r\n]/.test(inner[0] ?? '')
    ? { finding: 'hold a line break', remedy: LINE_BREAK_REMEDY }
    : {
        finding: 'are not closed with }} on the same line, or hold a single brace without its pair, or too many levels',
      };
}

const LINE_BREAK_REMEDY =
  'write them on one line, and "\\\\n" for a line break in quotes (two backslashes in JSON, and in double quotes in YAML)';

/** What stands between the braces, or undefined for what is another language's (`{{.Names}}`, `{{json .}}`). */
export function contentOfBraces(content: string): BraceContent | undefined {
  const source = content.trim();
  if (source.includes('{{')) return { type: 'path', pieces: piecesOf(source) };
  if (isPath(source)) return { type: 'path', pieces: [source] };
  return source === '' || /(?:^|\s)\./.test(source) ? undefined : { type: 'expression', source };
}

function piecesOf(source: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = source.indexOf('{{'); at !== -1; at = source.indexOf('{{', from)) {
    const end = endOfBraces(source, at);
    if (end === undefined) break;
    pieces.push(source.slice(from, at), { inner: source.slice(at + 2, end - 2) });
    from = end;
  }
  return [...pieces, source.slice(from)].filter((piece) => piece !== '');
}

/** The keys of a path, root first; undefined when the text is no path. */
export function keysOfPath(text: string): string[] | undefined {
  if (PATH.test(text)) return text.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  return LABELLED.test(text)
    ? Array.from(text.matchAll(LABELLED_KEYS), ([key, quoted, single]) => quoted ?? single ?? key)
    : undefined;
}

/** How a step of that label is referred to in quotes; undefined for a label that no braces can hold. */
export function quotedLabel(label: string): string | undefined {
  if (/[{}\r\n]/.test(label)) return undefined;
  const path = [`named["${label}"]`, `named['${label}']`].find((written) => keysOfPath(written)?.[1] === label);
  // What is no path is an expression, in which a backslash marks what follows it.
  return path ?? `named[${JSON.stringify(label)}]`;
}
