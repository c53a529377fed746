/** A row of a data set: what is asked, and the answer that is trained on. Whatever else a row has is left out. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { canonicalText } from '../../language/canonical.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';

/** As training programs read it. */
export interface Message {
  role: string;
  /** Null where it is calls alone. */
  content: string | null;
  tool_calls?: Json;
  tool_call_id?: string;
}

export interface Row {
  /** Of its content: the same row has the same one, wherever it comes from. */
  id: string;
  /** The last one is the answer. */
  messages: Message[];
  domain?: string;
  /** That the model was offered. */
  tools?: Json;
  /** What it is about, where rows go into parts by that. */
  fact?: string;
  /** The field that says so, where it is another than `fact`: many things may be asked about a document, and one about a fact. */
  groupedBy?: string;
  /** Who made it and what has checked it, where it says so. */
  origin?: Origin;
}

export const Origin = z.strictObject({
  madeBy: z.enum(['model', 'generator']),
  model: z.string().nullable(),
  checked: z.array(z.string()),
});
export type Origin = z.infer<typeof Origin>;

/** Fields that hold a question and its answer, by the first pair that a row has whole. */
const PAIRS = [
  ['input', 'expectedOutput'],
  ['input', 'expected'],
  ['input', 'output'],
  ['prompt', 'completion'],
  ['question', 'answer'],
] as const;

export const formsOfRows = `{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}, or two fields: ${PAIRS.map((pair) => pair.join(' and ')).join(', ')}`;

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);

/** The row, or what is wrong with it. */
export function rowOf(given: Json): { row: Row } | { fault: string } {
  if (!isJsonObject(given)) return { fault: 'is no object' };
  const messages = 'messages' in given ? messagesOf(given['messages'] ?? null) : pairOf(given);
  if (typeof messages === 'string') return { fault: messages };
  const { domain, tools } = given;
  const content = {
    messages,
    ...(typeof domain === 'string' && domain !== '' ? { domain } : {}),
    ...(Array.isArray(tools) && tools.length > 0 ? { tools } : {}),
  };
  return { row: { id: hashOf(content), ...content } };
}

function pairOf(given: JsonObject): Message[] | string {
  const pair = PAIRS.find(([asked, answered]) => isSaid(given[asked]) && isSaid(given[answered]));
  if (pair === undefined) return 'has no question with an answer';
  const [asked, answered] = pair.map((field) => textOf(given[field] ?? null));
  return [
    { role: 'user', content: asked ?? '' },
    { role: 'assistant', content: answered ?? '' },
  ];
}

const isSaid = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== '';

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

function messagesOf(given: Json): Message[] | string {
  if (!Array.isArray(given) || given.length < 2) return 'has "messages" that are no list of two or more';
  const messages: Message[] = [];
  for (const [at, one] of given.entries()) {
    const { role, content = null, tool_calls, tool_call_id } = isJsonObject(one) ? one : {};
    if (typeof role !== 'string' || !ROLES.has(role)) return `has no role at messages.${at}`;
    const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? { tool_calls } : {};
    if (content === null && !('tool_calls' in calls)) return `has no content at messages.${at}`;
    const answers = typeof tool_call_id === 'string' ? { tool_call_id } : {};
    messages.push({ role, content: content === null ? null : textOf(content), ...calls, ...answers });
  }
  if (messages.at(-1)?.role !== 'assistant') return 'has no answer: its last message is not of the assistant';
  return messages;
}

const hashOf = (content: object): string => createHash('sha256').update(canonicalText(content)).digest('hex');

/** The same rows are one, whoever made them: it is no part of their content. */
export const originOf = (given: Json): Origin | undefined =>
  isJsonObject(given) ? Origin.safeParse(given['origin']).data : undefined;

/** What a row is about, by the field that says so. */
export function factOf(given: Json, groupBy: string | undefined): string | undefined {
  const fact = groupBy === undefined || !isJsonObject(given) ? undefined : given[groupBy];
  return isSaid(fact) ? textOf(fact ?? null) : undefined;
}

/** What decides its part: rows of one fact go into one part, else those that ask the same, whatever they answer. */
export function shareOf({ messages, fact }: Row): number {
  const of = fact === undefined ? { asked: questionOf(messages) } : { fact };
  return Number.parseInt(hashOf(of).slice(0, 12), 16) / 2 ** 48;
}

/** The same for questions that differ in case, white space or the form of their characters: one of them is not asked after another was trained. */
const questionOf = (messages: readonly Message[]): string =>
  messages
    .slice(0, -1)
    .filter(({ role }) => role !== 'system')
    .map(({ content, tool_calls = null }) => content ?? textOf(tool_calls))
    .join('\n')
    .normalize('NFKC')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .join(' ');
