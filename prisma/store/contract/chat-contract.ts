/** Rooms in which runs and people say something to whoever reads, and the event that each message is. */
import type { Session } from './session-contract.ts';

export const ROOM = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;
export const roomRule = 'letters, digits, ".", "_" and "-", at most 100 of them, a letter or digit first';
/** Characters of a message. */
export const chatLengthMax = 100_000;

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
}

/** As people read it: what a run says in its persona's name is not what the persona said. */
export const speakerOf = ({ author, handle }: Pick<ChatMessage, 'author' | 'handle'>): string =>
  handle === null ? author : `${author} (run ${handle})`;

export interface NewChatMessage {
  room: string;
  author: string;
  /** Of the run and the step; from outside of runs null and an id. */
  handle: string | null;
  key: string;
  message: string;
  /** Of the run; null for a person. */
  project: string | null;
}

/** What was said in one project, and what persons said; absent: everything. */
export interface ChatHeard {
  project?: string;
}

export interface ChatQuery extends ChatHeard {
  room: string;
  /** The latest so many, in order. */
  limit: number;
  /** Only what was said after this one. */
  after?: number;
}

export interface ChatRoom {
  room: string;
  messages: number;
  latest: ChatMessage;
}

export interface Chat {
  /** Under the same handle and key once. */
  say(session: Session, message: NewChatMessage): Promise<void>;
  read(session: Session, query: ChatQuery): Promise<ChatMessage[]>;
  /** The one with the newest message first. */
  rooms(session: Session, heard?: ChatHeard): Promise<ChatRoom[]>;
  /** From outside of runs, at once. */
  post(message: NewChatMessage): Promise<void>;
}
