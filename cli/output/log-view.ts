/** Lines of a log on the screen: with the key of their step where several printed, and with times where they are asked for. */
import type { LogLine } from '../../client/contract/shown.ts';
import type { Output } from './output.ts';

export interface LogOptions {
  /** What was printed as it is. */
  raw?: boolean;
  time?: boolean;
}

export class LogView {
  readonly #output: Pick<Output, 'line' | 'raw' | 'paint'>;
  readonly #root: string;
  readonly #options: LogOptions;
  #first: string | undefined;
  #hasKeys = false;

  constructor(output: Pick<Output, 'line' | 'raw' | 'paint'>, root: string, options: LogOptions = {}) {
    this.#output = output;
    this.#root = root;
    this.#options = options;
  }

  /** `isOfSeveral`: lines of other steps were left out, so that each line needs its key. */
  showAll(lines: readonly LogLine[], isOfSeveral: boolean): void {
    this.#hasKeys = isOfSeveral || new Set(lines.map((line) => stepOf(this.#root, line))).size > 1;
    for (const line of lines) this.show(line);
  }

  /** Keys begin where a second step prints. */
  show(line: LogLine): void {
    const { raw = false, time = false } = this.#options;
    const step = stepOf(this.#root, line);
    this.#first ??= step;
    this.#hasKeys ||= step !== this.#first;
    const dim = raw ? (text: string): string => text : this.#output.paint.dim;
    const before = [...(time ? [new Date(line.at).toISOString()] : []), ...(this.#hasKeys ? [step] : [])];
    const text = [...before.map((part) => dim(part)), line.text].join('  ');
    if (raw) this.#output.raw(text);
    else this.#output.line(text);
  }
}

/** From the run that is shown: a nested run's steps stand behind the keys that lead to it. */
export const stepOf = (root: string, { handle, key }: Pick<LogLine, 'handle' | 'key'>): string =>
  handle === root ? key : `${handle.slice(root.length + 1)}/${key}`;
