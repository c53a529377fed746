import { cutText } from './utf8.ts';

/** A command as a message quotes it. */
export const clip = (text: string): string => (text.length > 200 ? `${cutText(text, 200)}…` : text);
