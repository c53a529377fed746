/**
 * What a verb says: results on stdout, progress and errors on stderr. With --json stdout holds JSON
 * alone: one document, or one object a line where the verb streams.
 */
import pc from 'picocolors';
import { PLAIN, type Paint } from '../../show/paint.ts';

export interface Output {
  json: boolean;
  /** A person is looking and can be asked: stdout is a terminal and nobody wanted JSON. */
  isTerminal: boolean;
  paint: Paint;
  /** A line for people; nothing with --json. */
  line: (text?: string) => void;
  /** The document, or one object of a stream; nothing without --json. */
  object: (value: unknown) => void;
  /** A remark on stderr. */
  note: (text: string) => void;
}

export function openOutput(options: { json?: boolean | undefined; streams?: boolean }): Output {
  const json = options.json === true;
  const isTerminal = process.stdout.isTTY && !json;
  return {
    json,
    isTerminal,
    paint: paintFor(isTerminal),
    line: (text = '') => {
      if (!json) process.stdout.write(`${text}\n`);
    },
    object: (value) => {
      if (json) process.stdout.write(`${JSON.stringify(value, null, options.streams === true ? 0 : 2)}\n`);
    },
    note: (text) => process.stderr.write(`${text}\n`),
  };
}

function paintFor(isTerminal: boolean): Paint {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  const refused =
    (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb' || FORCE_COLOR === '0' || FORCE_COLOR === 'false';
  if (!forced && (refused || !isTerminal)) return PLAIN;
  const { green, red, yellow, dim, bold } = pc.createColors(true);
  return { good: green, bad: red, warn: yellow, dim, strong: bold };
}
