/** The references a text is written with, and what only looks like one, whatever a run has under those names. */
import { endOfBraces, findingOfOpenBraces } from '../expression/braces.ts';
import type { UnknownCall } from '../expression/expression.ts';
import { parseExpression, referencesOf, type FoundReference } from '../expression/parse.ts';
import { bracesAt, endOfCall, match, NAME, nextReference, readPart } from './reference-syntax.ts';

/** Whether a `$ref` is the path of a file, and no name. */
export const isFilePath = (ref: string): boolean => /^\.\.?\//.test(ref);

/** Whether what a text stands for is known only when a run reaches it. */
export const isTemplate = (text: string): boolean => referencesIn(text).length > 0;

/**
 * Whether a `$ref` stands for what a run finds in its variables. A definition may have a name that reads
 * like one (`cost$eur`), and is meant by it; a text that is nothing but a reference never is a name.
 */
export function isReferredLater(ref: string, isName: (name: string) => boolean): boolean {
  const found = referencesIn(ref);
  return found.some(({ written }) => written === ref) || (found.length > 0 && !isName(ref));
}

/** The references a text is written with, whatever they stand for: name, plain path, and the text. */
export function referencesIn(text: string): Array<FoundReference & { written: string }> {
  const found: Array<FoundReference & { written: string }> = [];
  for (let at = nextReference(text, 0); at !== -1; at = nextReference(text, at + 1)) {
    if (at > 0 && text.charAt(at - 1) === '\\') continue;
    const braces = text.charAt(at) === '{' ? bracesAt(text, at) : undefined;
    if (braces !== undefined) {
      const written = text.slice(at, braces.end);
      found.push(...referencesOf({ text: written, root: braces.root }).map((reference) => ({ ...reference, written })));
      at = braces.end - 1;
      continue;
    }
    const [name, ...path] = dollarPath(text, at);
    if (name !== undefined) found.push({ name, path, written: [`$${name}`, ...path].join('.') });
  }
  return found;
}

export interface Unread {
  /** The name it begins with; empty where a value stands there (`{{[3, 1].order()}}`). */
  name: string;
  /** What stands in its braces. */
  content: string;
  written: string;
  finding: string;
  /** What to write, where the finding asks for something else than a name with a path. */
  remedy?: string;
  /** The call that the finding is about. */
  unknown?: UnknownCall;
}

const UNREAD_NAME = /\s*([A-Za-z_][A-Za-z0-9_]*)/y;
const unreadLengthMax = 120;
const unreadMax = 20;

/** What looks like a reference, begins with a name, and is plain text to us. */
export function unreadIn(text: string): Unread[] {
  const found: Unread[] = [];
  for (let at = nextReference(text, 0); at !== -1 && found.length < unreadMax; at = nextReference(text, at + 1)) {
    if (at > 0 && text.charAt(at - 1) === '\\') continue;
    const isDollar = text.charAt(at) === '$';
    if (!isDollar && bracesAt(text, at) !== undefined) at = (endOfBraces(text, at) ?? at + 1) - 1;
    else if (!isDollar || text.startsWith('${', at)) found.push(...unreadAt(text, at, isDollar));
    else found.push(...unreadCall(text, at));
  }
  return found;
}

/** `$name.path.call(…)` where there is no such method, or where what it is given cannot be read. */
function unreadCall(text: string, at: number): Unread[] {
  const name = match(NAME, text, at + 1)?.[0];
  if (name === undefined) return [];
  let end = at + 1 + name.length;
  let part = readPart(text, end);
  for (; part !== undefined; part = readPart(text, end)) {
    const isCall = part.type === 'field' && text.charAt(end) === '.' && text.charAt(part.end) === '(';
    end = part.end;
    if (isCall) break;
  }
  const close = part === undefined ? undefined : endOfCall(text, end);
  const written = text.slice(at, close);
  const parsed = close === undefined ? undefined : parseExpression(written);
  if (parsed === undefined || parsed.ok) return [];
  const unknown = parsed.unknown === undefined ? {} : { unknown: parsed.unknown };
  const shown = written.slice(0, unreadLengthMax);
  return [{ name, content: shown.slice(1), written: shown, finding: parsed.problem.message, ...unknown }];
}

function unreadAt(text: string, at: number, isDollar: boolean): Unread[] {
  const end = isDollar ? undefined : endOfBraces(text, at);
  const name = match(UNREAD_NAME, text, at + 2)?.[1] ?? (end === undefined ? undefined : '');
  if (name === undefined) return [];
  const written =
    text.slice(at, Math.min(end ?? text.length, at + unreadLengthMax)).split(/(?<=\}\}?(?!\}))|\n/, 1)[0] ?? '';
  const content = written
    .replace(/^[${]+/, '')
    .replace(/\}+$/, '')
    .trim();
  // Another language's: `{{.Names}}`, `{{json .}}`.
  if (!isDollar && /(?:^|\s)\./.test(content)) return [];
  const parsed = end === undefined ? undefined : parseExpression(text.slice(at, end));
  if (parsed?.ok === true || (name === '' && parsed?.unknown === undefined)) return [];
  const open = isDollar || parsed !== undefined ? undefined : findingOfOpenBraces(text, at);
  const unknown = parsed?.unknown === undefined ? {} : { unknown: parsed.unknown };
  return [
    {
      name,
      content,
      written,
      finding:
        open === undefined
          ? (parsed?.problem.message ?? 'a name behind $ has no braces')
          : `its braces ${open.finding}`,
      ...(open?.remedy === undefined ? {} : { remedy: open.remedy }),
      ...unknown,
    },
  ];
}

function dollarPath(text: string, at: number): string[] {
  const name = text.charAt(at) === '$' ? match(NAME, text, at + 1)?.[0] : undefined;
  if (name === undefined) return [];
  const path = [name];
  let part = readPart(text, at + 1 + name.length);
  for (; part !== undefined && part.type !== 'call'; part = readPart(text, part.end)) path.push(String(part.key));
  return path;
}
