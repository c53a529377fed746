/** A run on the screen: a line for each event as it comes, and on a terminal the steps under way. */
import type { FollowedEvent, FollowedPiece } from '../../client/follow/follow-run.ts';
import type { Json } from '../../language/json.ts';
import { failureWords } from '../../client/show/trace-words.ts';
import { depthOf } from '../../client/show/step-keys.ts';
import { belowStep, durationText, eventLine, isOfRun, oneLine, questionDetails } from '../../client/show/trace.ts';
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

  showSaid(piece: FollowedPiece): void {
    this.#said.show(piece, nestingOf(this.#handle, piece.handle));
  }

  /** `data`: what the step emitted; `printed`: the last lines that its process wrote to stderr. */
  show({ handle, event }: FollowedEvent, data: Json, printed: readonly string[]): void {
    const own = handle === this.#handle;
    const nesting = nestingOf(this.#handle, handle);
    const { line: print, paint } = this.#output;
    if (event.type === 'step-started')
      this.#running.set(`${handle} ${event.key}`, { label: event.label, since: event.at });
    if (event.type === 'step-finished') this.#running.delete(`${handle} ${event.key}`);
    const isQuoted = printed.length > 0;
    const isShown = event.type === 'pass-finished' ? own : !isOfRun(event);
    const line = isShown ? eventLine(event, nesting, { paint, emitted: () => data, isQuoted }) : null;
    if (line !== null) {
      print(line);
      this.#said.interrupt();
    }
    if (event.type === 'asked') for (const text of questionDetails(event, nesting)) print(text);
    if (event.type === 'step-finished') {
      const below = isQuoted ? printed : (failureWords(event)?.below ?? []);
      for (const text of belowStep(event, below, nesting, paint)) print(text);
    }
    this.#refresh();
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
