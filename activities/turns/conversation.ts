/**
 * A conversation between its rows and a request. Turn 0 holds what it begins with; the results of a turn's
 * calls stand behind its answer in the order of the calls, and what is said besides behind them.
 */
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { JsonObject } from '../../language/json.ts';
import type { CallAnswer, Opening, Said } from '../../interpreter/effect.ts';
import type { TurnRequest } from '../../interpreter/contract.ts';
import type { PlacedMessage } from '../../prisma/store/contract/conversation-contract.ts';
import { resolveInside } from '../confinement/confine.ts';
import { Failure } from '../failures/failures.ts';
import type { ImageBlock, Message, ToolResultBlock, UserBlock } from '../models/port/message.ts';
import type { Prompt } from './prompts/prompt.ts';
import { answerNow } from './prompts/answer-now.ts';
import { repair } from './prompts/repair.ts';
import { stuck } from './prompts/stuck.ts';

const PROMPTS: { [Name in Said['prompt']]: Prompt<Extract<Said, { prompt: Name }>> } = {
  repair,
  stuck,
  'answer-now': answerNow,
};

const promptOf = ({ prompt }: Said): Prompt<Said> => PROMPTS[prompt];

/** Of the answer itself; its calls' results follow. */
const RESULTS = 1;
/** Behind any number of results. */
const BESIDES = 1_000_000;

const imageBytesMax = 5 * 1024 * 1024;
const MEDIA: { readonly [extension: string]: ImageBlock['mediaType'] } = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

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
      part: BESIDES + index,
      message: {
        ...asRow({ role: 'user', blocks: [{ type: 'text', text: promptOf(said).render(said) }] }),
        prompt: said.prompt,
      },
    })),
  ];
}

/** Which of our own prompts a turn is told, with their versions. */
export const promptsIn = ({ say }: Pick<TurnRequest, 'say'>): { [name: string]: number } =>
  Object.fromEntries(say.map(({ prompt }) => [prompt, PROMPTS[prompt].version]));

async function openingRows({ system, messages, prompt, images }: Opening, project: string): Promise<PlacedMessage[]> {
  const pictures = await Promise.all(images.map((path) => imageAt(project, path)));
  const asked: UserBlock[] = [...pictures, ...(prompt === undefined ? [] : [{ type: 'text' as const, text: prompt }])];
  const all: (Message | SystemMessage)[] = [
    ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
    ...messages.map(({ role, text }): Message =>
      role === 'user'
        ? { role, blocks: [{ type: 'text', text }] }
        : { role, blocks: [{ type: 'text', text }], author: 'definition' },
    ),
    ...(asked.length === 0 ? [] : [{ role: 'user' as const, blocks: asked }]),
  ];
  return all.map((message, part) => ({ turn: 0, part, message: asRow(message) }));
}

async function imageAt(project: string, path: string): Promise<ImageBlock> {
  const file = resolveInside(project, path);
  const mediaType = MEDIA[extname(path).toLowerCase()];
  if (mediaType === undefined)
    throw new Failure(
      'FILE_NOT_USABLE',
      `"${path}" is no picture that models take; name one that ends in ${Object.keys(MEDIA).join(', ')}`,
    );
  const found = await stat(file).catch(() => null);
  if (found === null) throw new Failure('FILE_NOT_FOUND', `there is no picture "${path}"; make it before this step`);
  if (!found.isFile() || found.size > imageBytesMax)
    throw new Failure(
      'FILE_NOT_USABLE',
      `picture "${path}" has ${found.size} bytes, and models take files of at most ${imageBytesMax}; make it smaller`,
    );
  return { type: 'image', mediaType, data: (await readFile(file)).toString('base64') };
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

/** What the rows say, as a request has it. */
export function readRows(rows: readonly PlacedMessage[]): { system?: string; messages: Message[] } {
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
