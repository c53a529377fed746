/** The recorded request that is nearest to one that was not recorded, and what is different, in a few lines. */
import { structuredPatch } from 'diff';
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import type { CassetteEntry } from './cassette.ts';
import type { RequestForm } from './request-form.ts';

const LINES_MAX = 30;
const LINE_LENGTH_MAX = 200;

/** A request as lines that a person compares. */
function requestLines({ model, system, messages, tools, ...settings }: RequestForm): string[] {
  const names = Array.isArray(tools) ? tools.filter(isJsonObject).map(({ name }) => textOf(name)) : [];
  return [
    `model: ${model}`,
    ...(typeof system === 'string' ? said('system', system) : []),
    ...(names.length === 0 ? [] : [`tools: ${names.join(', ')}`]),
    ...Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ...messages.flatMap(messageLines),
  ];
}

const said = (who: string, text: string): string[] => text.split('\n').map((line) => `${who}: ${line}`);

function messageLines({ role, blocks }: JsonObject): string[] {
  const list = Array.isArray(blocks) ? blocks.filter(isJsonObject) : [];
  return list.flatMap((block) => {
    switch (textOf(block['type'])) {
      case 'text':
        return said(textOf(role), textOf(block['text']));
      case 'tool-call':
        return [`${textOf(role)} calls: ${textOf(block['name'])} ${textOf(block['invalid'] ?? block['input'])}`];
      case 'tool-result': {
        const content = Array.isArray(block['content']) ? block['content'].filter(isJsonObject) : [];
        return content.flatMap((inner) =>
          said(block['isError'] === true ? 'failed' : 'result', textOf(inner['text'] ?? inner)),
        );
      }
      default:
        return [`${textOf(role)}: ${JSON.stringify(block)}`];
    }
  });
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/** The share of lines that two requests have in common. */
function likeness(one: readonly string[], other: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of one) counts.set(line, (counts.get(line) ?? 0) + 1);
  let same = 0;
  for (const line of other) {
    const left = counts.get(line) ?? 0;
    if (left > 0) same += 1;
    counts.set(line, left - 1);
  }
  return same / Math.max(1, one.length, other.length);
}

export interface Nearest {
  /** Of the cassette's entries, from 0. */
  index: number;
  entry: CassetteEntry;
  /** What is recorded (`-`) and what is asked now (`+`). */
  difference: string[];
}

/** Of those that are as like it, one of the same step goes before the others. Null where nothing is recorded. */
export function nearestTo(
  request: RequestForm,
  at: CassetteEntry['at'],
  entries: readonly CassetteEntry[],
): Nearest | null {
  const asked = requestLines(request);
  const scored = entries.map((entry, index) => {
    const isSamePlace = entry.at.run === at.run && entry.at.key === at.key && entry.at.turn === at.turn;
    return { index, entry, score: likeness(requestLines(entry.request), asked) + (isSamePlace ? 0.25 : 0) };
  });
  const [best] = scored.toSorted((a, b) => b.score - a.score || a.index - b.index);
  if (best === undefined) return null;
  const { index, entry } = best;
  return { index, entry, difference: differenceOf(entry.request, request) };
}

function differenceOf(recorded: RequestForm, asked: RequestForm): string[] {
  const texts = [recorded, asked].map((form) => `${requestLines(form).map(shortened).join('\n')}\n`) as [
    string,
    string,
  ];
  const { hunks } = structuredPatch('recorded', 'asked', ...texts, '', '', { context: 1 });
  const lines = hunks.flatMap(({ lines: changed }) => changed);
  if (lines.length === 0)
    return ['(they differ in what is not shown here: descriptions of tools, or the rest of a long line)'];
  return lines.length <= LINES_MAX
    ? lines
    : [...lines.slice(0, LINES_MAX), `(and ${lines.length - LINES_MAX} more lines)`];
}

const shortened = (line: string): string =>
  line.length <= LINE_LENGTH_MAX ? line : `${line.slice(0, LINE_LENGTH_MAX)}…`;
