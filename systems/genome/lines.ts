/** What the trainer says: one JSON object a line. Anything else is none of its words. */
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';

const lineBytesMax = 256 * 1024;

export class LineReader {
  readonly #hear: (line: JsonObject) => void;
  #rest = Buffer.alloc(0);
  #last: JsonObject | null = null;

  constructor(hear: (line: JsonObject) => void) {
    this.#hear = hear;
  }

  /** Null: it has said nothing yet. */
  get last(): JsonObject | null {
    return this.#last;
  }

  write(piece: Buffer): void {
    let rest = Buffer.concat([this.#rest, piece]);
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      this.#line(rest.subarray(0, at).toString('utf8'));
      rest = rest.subarray(at + 1);
    }
    this.#rest = rest.length > lineBytesMax ? Buffer.alloc(0) : rest;
  }

  #line(text: string): void {
    const line = read(text);
    if (line === null) return;
    this.#last = line;
    this.#hear(line);
  }
}

function read(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null;
  try {
    const line = JSON.parse(text) as Json;
    return isJsonObject(line) && typeof line['event'] === 'string' ? line : null;
  } catch {
    return null;
  }
}
