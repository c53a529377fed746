/** Blocks of a text between fences, as the text forms of changesets and bundles have them. */

export interface Fenced {
  /** After the fence that opens it. */
  info: string;
  /** Without the line end before the fence that closes it. */
  body: string;
  /** Of the line of the fence, from 1. */
  line: number;
}

const OPENING = /^(`{3,})([^`]*)$/;

/** `broken`: the line of a fence that nothing closes. */
export function fencesOf(text: string): { fenced: Fenced[]; broken: number | null } {
  const lines = text.split('\n');
  const fenced: Fenced[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, opening, info = ''] = OPENING.exec(withoutReturn(lines[at])) ?? [];
    if (opening === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && withoutReturn(line) === opening);
    if (end === -1) return { fenced, broken: at + 1 };
    fenced.push({ info: info.trim(), body: lines.slice(at + 1, end).join('\n'), line: at + 1 });
    at = end;
  }
  return { fenced, broken: null };
}

const withoutReturn = (line = ''): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

/** Longer than any fence within. */
export function fence(info: string, body: string): string {
  const longest = [...body.matchAll(/`{3,}/g)].reduce((most, [found]) => Math.max(most, found.length), 2);
  const mark = '`'.repeat(longest + 1);
  return `${mark}${info}\n${body}\n${mark}\n`;
}

/** The lines `name: value` of a block. */
export function fieldsOf(body: string): Map<string, string> {
  const fields = body.split('\n').flatMap((line): [string, string][] => {
    const [, name, value] = /^\s*([a-z_]+):[ \t]*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return new Map(fields);
}
