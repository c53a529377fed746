/** Messages of JSON on their way to a reader of somebody else's, line by line, with numbers that would change in quotes. */
import { exactText, type Decimals } from './exact-json.ts';

export class ExactLines {
  readonly #decoder = new TextDecoder();
  readonly #decimals: Decimals;
  readonly #isJson: (line: string) => boolean;
  #rest = '';

  /** `isJson`: lines of a stream that are anything else stay what they are. */
  constructor(decimals: Decimals, isJson: (line: string) => boolean = () => true) {
    this.#decimals = decimals;
    this.#isJson = isJson;
  }

  /** The lines that are whole by now. */
  push(bytes: Uint8Array): string {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => `${this.#exact(line)}\n`).join('');
  }

  end(): string {
    return this.#exact(this.#rest + this.#decoder.decode());
  }

  readonly #exact = (line: string): string => (this.#isJson(line) ? exactText(line, this.#decimals) : line);
}
