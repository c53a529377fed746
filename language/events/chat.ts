/** Rooms in which runs and people say something, and the event that each message is. */

export const ROOM = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;
export const roomRule = 'letters, digits, ".", "_" and "-", at most 100 of them, a letter or digit first';
/** Characters of a message. */
export const chatLengthMax = 100_000;

export const chatEvent = (room: string): string => `chat:${room}:message`;
