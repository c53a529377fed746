/**
 * What a verb says: results on stdout, progress and errors on stderr. With --json stdout holds JSON
 * alone: one document, or one object a line where the verb streams.
 *
 * Whatever a definition, an event or a process has brought along comes through here, and is escaped here
 * (language/events/visible.ts). A line stays one: what follows a newline in it begins with a bar, so that nothing
 * can look like a line of ours.
 */
import { ownMasker } from '../../world/own-keys/own-keys.ts';
import { barred, visible } from '../../language/events/visible.ts';
import type { Paint } from '../../client/show/paint.ts';
import { paintFor, rendered } from './ink.ts';

export interface Output {
  json: boolean;
  /** A person is looking and can be asked: stdout is a terminal and nobody wanted JSON. */
  isTerminal: boolean;
  paint: Paint;
  /** A line for people; nothing with --json. */
  line: (text?: string) => void;
  /** Text of several lines, each as it is; nothing with --json. */
  text: (text: string) => void;
  /** The document, or one object of a stream; nothing without --json. */
  object: (value: unknown) => void;
  /** A remark on stderr. */
  note: (text: string) => void;
  /** Bytes that somebody asked for as they are. */
  raw: (line: string) => void;
}

/** A stream that text is written to. */
export type Sink = Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean };

export interface Streams {
  stdout: Sink;
  stderr: Sink;
}

export function openOutput(
  options: { json?: boolean | undefined; streams?: boolean },
  { stdout, stderr }: Streams = process,
): Output {
  const json = options.json === true;
  const isTerminal = stdout.isTTY === true && !json;
  return {
    json,
    isTerminal,
    paint: paintFor(isTerminal),
    line: (text = '') => {
      if (!json) stdout.write(`${rendered(barred(ownMasker().text(text)))}\n`);
    },
    text: (text) => {
      if (!json) stdout.write(rendered(ownMasker().text(text)));
    },
    object: (value) => {
      if (json)
        stdout.write(`${visible(JSON.stringify(ownMasker().json(value), null, options.streams === true ? 0 : 2))}\n`);
    },
    note: (text) => {
      stderr.write(`${rendered(barred(ownMasker().text(text)))}\n`);
    },
    raw: (line) => {
      stdout.write(`${line}\n`);
    },
  };
}
