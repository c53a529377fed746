/**
 * A conversation between its rows and a request. Turn 0 holds what it begins with; the results of a turn's
 * calls stand behind its answer in the order of the calls, and what is said besides behind them.
 */
import type { JsonObject } from '../../language/json.ts';
import type { CallAnswer, Opening, Said } from '../../interpreter/effect.ts';
import type { TurnRequest } from '../../interpreter/contract.ts';
import { besidesPart, type PlacedMessage } from '../../prisma/store/contract/models/conversation-contract.ts';
import type { Message, ToolResultBlock, UserBlock, UserMessage } from '../../world/models/port/message.ts';
import { imageOf } from './images.ts';
import type { Prompt } from '../../world/models/prompt.ts';
import { told, repair, selfCheck, stuck, answerNow } from './prompts/prompts.ts';

/** Of the answer itself; its calls' results follow. */
const RESULTS = 1;
/** Of what a conversation begins with: behind all that was said before the prompt, what changes from pass to pass; then the prompt. */
export const CONTEXT = 500_000;
const PROMPT = CONTEXT + 1;

export interface SystemMessage {
  role: 'system';
  text: string;
}

const asRow = (message: Message | SystemMessage): JsonObject => message as unknown as JsonObject;

/** Rows of what a turn is told before it is taken. */
export async function saidBefore(request: TurnRequest, project: string): Promise<PlacedMessage[]> {
  const { turn, say, answers, opening } = request;
  const before = turn - 1;
  return [
    ...(opening === undefined ? [] : await openingRows(opening, project)),
    ...answers.map((answer) => resultRow(before, answer.call, answerOf(answer))),
    ...say.map((said, index) => ({
      turn: before,
      part: besidesPart + index,
      message: asRow(messageOf(said)),
    })),
  ];
}

interface Rendered {
  name: string;
  version: number;
  text: string;
}

function rendered(said: Said): Rendered {
  switch (said.prompt) {
    case 'repair':
      return renderedBy(repair, said);
    case 'stuck':
      return renderedBy(stuck, said);
    case 'answer-now':
      return renderedBy(answerNow, said);
    case 'self-check':
      return renderedBy(selfCheck, said);
    case 'told':
      return renderedBy(told, said);
    default:
      return said satisfies never;
  }
}

function renderedBy<Values>(prompt: Prompt<Values>, values: Values): Rendered {
  const { name, version } = prompt;
  return { name, version, text: prompt.render(values) };
}

function messageOf(said: Said): UserMessage {
  const { name, text } = rendered(said);
  const by = said.prompt === 'told' ? { by: said.by, id: said.id } : {};
  return { role: 'user', blocks: [{ type: 'text', text }], prompt: name, ...by };
}

/** Which of our own prompts a turn is told, with their versions. */
export const promptsIn = ({ say }: Pick<TurnRequest, 'say'>): { [name: string]: number } =>
  Object.fromEntries(say.map(rendered).map(({ name, version }) => [name, version]));

async function openingRows({ system, messages, prompt, images }: Opening, project: string): Promise<PlacedMessage[]> {
  const pictures = await Promise.all(images.map((image) => imageOf(project, image)));
  const asked: UserBlock[] = [
    ...pictures.filter((picture) => picture !== null),
    ...(prompt === undefined ? [] : [{ type: 'text' as const, text: prompt }]),
  ];
  const before: (Message | SystemMessage)[] = [
    ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
    ...messages.map(({ role, text }): Message =>
      role === 'user'
        ? { role, blocks: [{ type: 'text', text }] }
        : { role, blocks: [{ type: 'text', text }], author: 'definition' },
    ),
  ];
  const rows = before.map((message, part) => ({ turn: 0, part, message: asRow(message) }));
  return asked.length === 0
    ? rows
    : [...rows, { turn: 0, part: PROMPT, message: asRow({ role: 'user', blocks: asked }) }];
}

const answerOf = ({ id, text, ok }: CallAnswer): ToolResultBlock => ({
  type: 'tool-result',
  callId: id,
  content: [{ type: 'text', text }],
  isError: ok !== true,
});

export const resultRow = (turn: number, call: number, block: ToolResultBlock): PlacedMessage => ({
  turn,
  part: RESULTS + call,
  message: asRow({ role: 'user', blocks: [block] }),
});

export const hasOpening = (rows: readonly PlacedMessage[]): boolean =>
  rows.some(({ turn, part }) => turn === 0 && part < besidesPart);

export interface Conversed {
  system?: string;
  messages: Message[];
}

/** What the rows say, as a request has it. */
export function readRows(rows: readonly PlacedMessage[]): Conversed {
  const all = rows.map(({ message }) => message as unknown as Message | SystemMessage);
  const systems = all.flatMap((message) => (message.role === 'system' ? [message.text] : []));
  return {
    ...(systems.length === 0 ? {} : { system: systems.join('\n\n') }),
    messages: all.flatMap((message) => (message.role === 'system' ? [] : [message])),
  };
}

/** For a model that has no tools of its own: calls stand in its text already, and results are told in words. */
export function withoutTools(messages: readonly Message[]): Message[] {
  return messages.map((message): Message => {
    if (message.role === 'assistant')
      return { ...message, blocks: message.blocks.filter(({ type }) => type !== 'tool-call') };
    return {
      role: 'user',
      blocks: message.blocks.flatMap((block): UserBlock[] =>
        block.type !== 'tool-result'
          ? [block]
          : [
              { type: 'text', text: `${block.isError ? 'The call failed' : 'The result of the call'}:` },
              ...block.content,
            ],
      ),
    };
  });
}
