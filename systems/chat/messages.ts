/** Rooms in which runs and people say something to whoever reads, and the event that each message is. */

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

export interface ChatRoom {
  room: string;
  messages: number;
  latest: ChatMessage;
}

/** As people read it: what a run says in its persona's name is not what the persona said. */
export const speakerOf = ({ author, handle }: Pick<ChatMessage, 'author' | 'handle'>): string =>
  handle === null ? author : `${author} (run ${handle})`;
