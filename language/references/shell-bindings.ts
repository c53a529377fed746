/**
 * The variables that carry data into a shell line. Each distinct text gets one name, `SENTINEL_1`,
 * `SENTINEL_2`, …; a text too large for the environment is read from a file by a line put in front.
 */
import { environmentBytesMax, environmentTotalBytesMax } from '../limits.ts';

export class ShellBindings {
  readonly env: Record<string, string> = {};
  readonly files: Record<string, string> = {};
  readonly #names = new Map<string, string>();
  #bytes = 0;

  /** Whether the text is bound already: what was asked of it then need not be asked again. */
  knows(text: string): boolean {
    return this.#names.has(text);
  }

  /** The name of the variable that holds this text. */
  bind(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `SENTINEL_${this.#names.size + 1}`;
    this.#names.set(text, name);
    // A UTF-16 unit is at most three bytes of UTF-8.
    const bytes = text.length * 3;
    const fits = bytes <= environmentBytesMax && this.#bytes + bytes <= environmentTotalBytesMax;
    if (fits) this.#bytes += bytes;
    (fits ? this.env : this.files)[name] = text;
    return name;
  }

  /** `$( )` drops newlines at the end, so a mark is added behind the text and taken off again. */
  prelude(): string {
    return Object.keys(this.files)
      .map((name) => `${name}=$(cat "$${name}_FILE"; printf x); ${name}=\${${name}%x}\n`)
      .join('');
  }
}
