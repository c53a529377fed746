/** What models say, in lines as they grow: each turn under its key, behind a bar, so that nothing looks like a line of ours. */
import { markOf } from '../../language/models/model-streams.ts';
import { wrapped } from '../../language/events/wrapped.ts';
import type { FollowedPiece } from '../../client/follow/follow-run.ts';
import { depthOf } from '../../client/show/step-keys.ts';
import type { Output } from '../output/output.ts';

const lineLength = 100;

interface Writer {
  attempt: number;
  /** What stands of a line whose end has not come. */
  rest: Part;
}

/** Of a line that may be shown in several: only the first of them has the stream's mark. */
interface Part {
  text: string;
  isFirst: boolean;
}

const nothing: Part = { text: '', isFirst: true };

/** The parts of what was said, the last of which may grow. */
function partsOf(before: Part, text: string): Part[] {
  return text.split('\n').flatMap((line, nth) => {
    const parts = wrapped(nth === 0 ? before.text + line : line, lineLength);
    return parts.map((part, index) => ({ text: part, isFirst: index === 0 && (nth > 0 || before.isFirst) }));
  });
}

export class SaidView {
  readonly #output: Pick<Output, 'line' | 'paint'>;
  /** By run, turn and stream. */
  readonly #writers = new Map<string, Writer>();
  /** The turn that the last line is of. */
  #last = '';

  constructor(output: Pick<Output, 'line' | 'paint'>) {
    this.#output = output;
  }

  /** `depth`: how deep the run is nested in the one that is followed. */
  show({ handle, said }: FollowedPiece, depth: number): void {
    const { key, stream, attempt, text, droppedBytes } = said;
    const name = `${handle} ${key} ${stream}`;
    const before = this.#writers.get(name);
    // What is tried again begins anew.
    const parts = partsOf(before?.attempt === attempt ? before.rest : nothing, text);
    const rest = parts.pop() ?? nothing;
    this.#writers.set(name, { attempt, rest });
    const dropped = droppedBytes > 0 ? [`… ${droppedBytes.toLocaleString('en-US')} bytes dropped …`] : [];
    const mark = markOf(stream);
    const shown = [...dropped, ...parts.map((part) => (part.isFirst ? mark + part.text : part.text))];
    if (shown.length === 0) return;
    const indent = '  '.repeat(depth + depthOf(key));
    this.#head(`${handle} ${key}`, indent, key);
    for (const line of shown)
      this.#output.line(`${indent}  ${this.#output.paint.dim('│')} ${this.#coloured(stream, line)}`);
  }

  /** Something else was shown: the next line stands under its turn again. */
  interrupt(): void {
    this.#last = '';
  }

  #head(turn: string, indent: string, key: string): void {
    if (this.#last === turn) return;
    this.#last = turn;
    this.#output.line(`${indent}${this.#output.paint.dim('▸')} ${key}`);
  }

  #coloured(stream: string, line: string): string {
    const { paint } = this.#output;
    if (stream === 'thought') return paint.dim(line);
    return stream === 'notes' ? paint.warn(line) : line;
  }
}
