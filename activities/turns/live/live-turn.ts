/**
 * A turn while it is under way, for those who follow its run: what the model says goes to the step's log, in
 * pieces by time and size like what a process prints, with the run's secrets masked, each block in lines of
 * its own. Nothing is read back from it: the turn's answer is kept in its conversation.
 */
import type { ModelStream } from '../../../language/models/model-streams.ts';
import type { Json } from '../../../language/json.ts';
import type { Masker } from '../../../language/masking/masker.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import type { Delta } from '../../../world/models/port/turn.ts';
import { StepLog, type LogLabel } from '../../../operations/shell/output/step-log.ts';
import { StreamMask } from '../../../operations/shell/output/stream-mask.ts';

export interface LiveParts {
  logs: Pick<Store['logs'], 'append'>;
  /** The key is the turn's: `steps.2@1/turn.3`, and behind `#` how often it was asked for, from the second time on. */
  label: LogLabel;
  masker: Masker;
}

/** A turn does not wait longer than this for a store that takes no log. */
const giveUpMs = 5000;

export class LiveTurn {
  readonly #parts: LiveParts;
  readonly #log: StepLog;
  readonly #masks = new Map<ModelStream, StreamMask>();
  #open: ModelStream | null = null;
  #endsLine = true;
  #call = -1;
  /** What belongs to calls that others had begun after, by call. */
  readonly #late = new Map<number, string>();
  #model: string | null = null;
  #said = { characters: 0, calls: 0 };
  #ending: Promise<boolean> | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#log = new StepLog(parts.logs, parts.label);
  }

  /** It may be that the turn was asked for before: by an attempt of the activity, or because the run waited. */
  get isLater(): boolean {
    const { key, attempt } = this.#parts.label;
    return attempt > 1 || key.includes('#', key.lastIndexOf('/'));
  }

  /** The model is asked now. Says so where it was asked before: what it had said then counts for nothing. */
  begin(model: string, isAgain: boolean): void {
    this.#model = model;
    const [turn = ''] = (this.#parts.label.key.split('/').at(-1) ?? '').split('#');
    if (isAgain)
      this.#line('notes', `${turn.replace('.', ' ')} is tried again; what it had said before does not count`);
  }

  hear(delta: Delta): void {
    if (delta.type === 'tool-call') return this.#hearCall(delta);
    this.#said.characters += delta.text.length;
    this.#write(delta.type === 'text' ? 'answer' : 'thought', delta.text);
  }

  #hearCall({ call, name, arguments: piece }: Extract<Delta, { type: 'tool-call' }>): void {
    this.#said.characters += piece.length;
    if (call < this.#call) {
      this.#late.set(call, `${this.#late.get(call) ?? `${name} … `}${piece}`);
      return;
    }
    if (call > this.#call) {
      this.#call = call;
      this.#said.calls += 1;
      this.#endLine();
      this.#write('calls', `${name} `);
    }
    this.#write('calls', piece);
  }

  /** How far it is, for the beats of its activity: what answers, and how much it has said; `model` is null until it is asked. */
  get progress(): { [name: string]: Json } {
    return { model: this.#model, answer: { ...this.#said } };
  }

  /** Takes the turn, and ends when its log is written. */
  async during<Result>(turn: Promise<Result>): Promise<Result> {
    try {
      return await turn;
    } finally {
      await this.end();
    }
  }

  /** The model has answered, or will not: what is left goes to the log. May be said again. */
  end(): Promise<boolean> {
    this.#ending ??= this.#finish();
    return this.#ending;
  }

  #finish(): Promise<boolean> {
    this.#endLine();
    for (const text of this.#late.values()) this.#line('calls', text);
    return this.#log.finish(giveUpMs);
  }

  #line(stream: ModelStream, text: string): void {
    this.#endLine();
    this.#write(stream, text);
    this.#endLine();
  }

  #write(stream: ModelStream, text: string): void {
    if (text === '') return;
    if (this.#open !== stream) this.#endLine();
    this.#open = stream;
    this.#endsLine = text.endsWith('\n');
    const mask = this.#masks.get(stream) ?? new StreamMask(this.#parts.masker);
    this.#masks.set(stream, mask);
    this.#log.write(stream, mask.write(Buffer.from(text)));
  }

  /** A line that is open would keep back what comes behind it. */
  #endLine(): void {
    const stream = this.#open;
    if (stream === null) return;
    const rest = this.#masks.get(stream)?.end() ?? Buffer.alloc(0);
    if (rest.length > 0) this.#log.write(stream, rest);
    if (!this.#endsLine) this.#log.write(stream, Buffer.from('\n'));
    this.#open = null;
    this.#endsLine = true;
  }
}
