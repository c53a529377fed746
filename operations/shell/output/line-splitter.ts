/** A stream in lines: characters are never cut in half, and a line is as long as the bound at most. */
import { StringDecoder } from 'node:string_decoder';
import { SHELL_BOUNDS } from '../../../world/processes/bounds.ts';
import { cutText, storable } from './utf8.ts';

export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  /** The lines that this chunk completes. */
  write(chunk: Buffer): string[] {
    const pieces = this.#decoder.write(chunk).split('\n');
    const last = pieces.pop() ?? '';
    const lines = pieces.map((piece, index) => shown(index === 0 ? this.#rest + piece : piece));
    // What lies beyond the bound would be cut off anyway.
    this.#rest = (pieces.length === 0 ? this.#rest + last : last).slice(0, SHELL_BOUNDS.lineLengthMax + 1);
    return lines;
  }

  /** What stands after the last line break. */
  end(): string[] {
    const rest = this.#rest + this.#decoder.end();
    this.#rest = '';
    return rest === '' ? [] : [shown(rest)];
  }
}

function shown(line: string): string {
  const text = storable(line.endsWith('\r') ? line.slice(0, -1) : line);
  return text.length <= SHELL_BOUNDS.lineLengthMax ? text : `${cutText(text, SHELL_BOUNDS.lineLengthMax)}…`;
}
