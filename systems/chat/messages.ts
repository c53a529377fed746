/** Rooms in which runs and people say something to whoever reads, and the event that each message is. */
import type { Door } from '../../operations/caller.ts';

export const ROOM = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;
export const roomRule = 'letters, digits, ".", "_" and "-", at most 100 of them, a letter or digit first';
/** Characters of a message. */
export const chatLengthMax = 100_000;

export const SOURCES = [
  'step',
  'model',
  'person',
  'agent',
  'follower',
  'background',
] as const satisfies readonly Door[];
export type Source = (typeof SOURCES)[number];

/** A name as personas have it; a sign behind the last letter belongs to the sentence. */
const MENTION = /(?<![\w.@-])@([A-Za-z0-9](?:[\w.-]{0,98}[\w])?)(?![\w-])/g;
/** Names that a message addresses. */
const mentionsMax = 50;

export function mentionsIn(message: string): string[] {
  const names = Array.from(message.matchAll(MENTION), ([, name = '']) => name);
  return [...new Set(names)].slice(0, mentionsMax);
}

export const chatEvent = (room: string): string => `chat:${room}:message`;

export interface ChatMessage {
  /** The order of saying. */
  seq: number;
  room: string;
  /** The persona of the run, or the person. */
  author: string;
  /** The run that said it; null for a person. */
  handle: string | null;
  message: string;
  at: number;
  /** Of the message that it answers, and of the first message of that thread; null where it begins one. */
  replyTo: number | null;
  thread: number | null;
  /** Who is addressed by `@name`, in the order of the text. */
  mentions: string[];
  /** Through which door it came. */
  source: Source;
}

export interface ChatRoom {
  room: string;
  messages: number;
  /** Messages of the last hour: how busy the room is. */
  lastHour: number;
  /** Messages that address somebody, none of whom has said anything in the room since: how pressed it is. */
  unanswered: number;
  latest: ChatMessage;
}

/** As people read it: what a run says in its persona's name is not what the persona said. */
export const speakerOf = ({ author, handle }: Pick<ChatMessage, 'author' | 'handle'>): string =>
  handle === null ? author : `${author} (run ${handle})`;
