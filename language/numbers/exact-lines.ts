/** Messages of JSON on their way to a reader of somebody else's, line by line, with numbers that would change in quotes. */
import { exactText, type Decimals } from './exact-json.ts';

export class ExactLines {
  readonly #decoder = new TextDecoder();
  readonly #decimals: Decimals;
  readonly #isJson: (line: string) => boolean;
  /** Of the line that is not whole yet: put together once, however many pieces it comes in. */
  #pieces: string[] = [];

  /** `isJson`: lines of a stream that are anything else stay what they are. */
  constructor(decimals: Decimals, isJson: (line: string) => boolean = () => true) {
    this.#decimals = decimals;
    this.#isJson = isJson;
  }

  /** The lines that are whole by now. */
  push(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf('\n');
    if (end === -1) {
      this.#pieces.push(text);
      return '';
    }
    const whole = [...this.#pieces, text.slice(0, end)].join('');
    this.#pieces = [text.slice(end + 1)];
    return whole
      .split('\n')
      .map((line) => `${this.#exact(line)}\n`)
      .join('');
  }

  end(): string {
    return this.#exact([...this.#pieces, this.#decoder.decode()].join(''));
  }

  readonly #exact = (line: string): string => (this.#isJson(line) ? exactText(line, this.#decimals) : line);
}
