import { cutText } from './output/utf8.ts';

const charactersMax = 200;

/** A command as a message quotes it: of a long one, how it begins. */
export const quoteCommand = (command: string): string =>
  command.length > charactersMax ? `${cutText(command, charactersMax)}…` : command;
