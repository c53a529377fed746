/** A run on the screen: a line for each event as it comes, and on a terminal the steps under way. */
import type { FollowedEvent, FollowedPiece } from '../../follow/follow-run.ts';
import type { Json } from '../../../language/json.ts';
import { depthOf } from '../../show/step-keys.ts';
import { durationText, eventLine, isOfRun, oneLine, questionDetails } from '../../show/trace.ts';
import type { Output } from '../output/output.ts';
import { SaidView } from './said-view.ts';
import { openSpinner, type Spinning } from '../output/spinner.ts';

const TICK_MS = 1000;

export class RunView {
  readonly #output: Output;
  readonly #handle: string;
  readonly #running = new Map<string, { label: string; since: number }>();
  readonly #said: SaidView;
  #spinner: Spinning | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output, handle: string) {
    this.#output = output;
    this.#handle = handle;
    this.#said = new SaidView(output);
  }

  async open(): Promise<void> {
    const { stderr, env } = process;
    if (!this.#output.isTerminal || !stderr.isTTY || env['TERM'] === 'dumb' || env['CI'] !== undefined) return;
    this.#spinner = await openSpinner('starting');
    this.#timer = setInterval(() => this.#refresh(), TICK_MS);
  }

  /** `data`: what the step emitted. */
  show(followed: FollowedEvent | FollowedPiece, data: Json = null): void {
    if ('said' in followed) this.#said.show(followed, nestingOf(this.#handle, followed.handle));
    else this.#showEvent(followed, data);
  }

  #showEvent({ handle, event }: FollowedEvent, data: Json): void {
    const own = handle === this.#handle;
    if (event.type === 'step-started')
      this.#running.set(`${handle} ${event.key}`, { label: event.label, since: event.at });
    if (event.type === 'step-finished') this.#running.delete(`${handle} ${event.key}`);
    const isShown = event.type === 'pass-finished' ? own : !isOfRun(event);
    const line = isShown
      ? eventLine(event, nestingOf(this.#handle, handle), { paint: this.#output.paint, emitted: () => data })
      : null;
    if (line !== null) {
      this.#output.line(line);
      this.#said.interrupt();
    }
    if (event.type === 'asked')
      for (const text of questionDetails(event, nestingOf(this.#handle, handle))) this.#output.line(text);
    this.#refresh();
  }

  /** The output of the step that the event ends, behind a bar. */
  quote({ handle, event }: FollowedEvent, lines: readonly string[]): void {
    const { line, paint } = this.#output;
    const indent = '  '.repeat(nestingOf(this.#handle, handle) + depthOf(event.key) + 1);
    for (const text of lines) line(`${indent}${paint.dim('│')} ${text}`);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#spinner?.stop();
    this.#spinner = undefined;
  }

  #refresh(): void {
    this.#spinner?.say(underWayText([...this.#running.values()], Date.now()));
  }
}

/** A step shows its duration from one second on; below that the number would not move. */
export function underWayText(steps: readonly { label: string; since: number }[], now: number): string {
  const shown = steps.map(({ label, since }) => {
    const seconds = Math.floor((now - since) / 1000);
    return seconds < 1 ? oneLine(label) : `${oneLine(label)} ${durationText(seconds * 1000)}`;
  });
  return shown.length === 0 ? 'running' : shown.join(' · ');
}

/** How deep the steps of a nested run stand in the run that is followed. */
export function nestingOf(root: string, handle: string): number {
  const keys = handle
    .slice(root.length)
    .split('/')
    .filter((key) => key !== '');
  return keys.reduce((depth, key) => depth + depthOf(key) + 1, 0);
}
