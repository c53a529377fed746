/**
 * Following a run to its end, from `run` or `follow`.
 *
 * The first Ctrl-C prints how to follow the run again, and detaches two seconds later. A second one within these
 * two seconds cancels the run, and following continues until the run has ended, or for a minute. A third one
 * leaves at once. Without a terminal nobody can answer, so a run that waits ends the command.
 */
import { isAtLimit } from '../../language/events/question.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { CANCEL_MAX_MS } from '../../client/cancel-run.ts';
import type { Json } from '../../language/json.ts';
import type { FollowedEvent } from '../../client/follow/follow-run.ts';
import { pollUntil } from '../../client/follow/poll-until.ts';
import { EXIT, exitCodeOfRun } from '../output/exit-codes.ts';
import type { Output } from '../output/output.ts';
import { howToAnswer } from '../output/question-lines.ts';
import { reportLines } from '../output/report-lines.ts';
import { RunView } from './run-view.ts';
import { exitCodeOf } from '../../client/show/trace.ts';

const DETACH_MS = 2000;
const ASKED_MS = 2000;
/** After leaving, the command waits no longer than this for a store or a server that does not answer. */
const LEAVE_MAX_MS = 5000;

export async function watchRun(client: OpenClient, handle: string, output: Output): Promise<number> {
  const following = new AbortController();
  const view = new RunView(output, handle);
  const hands = onInterrupts(client, handle, output, () => following.abort());
  let waits = false;
  let how = '';
  output.line(`${output.paint.strong((await client.find(handle)).name)}  ${handle}`);
  await view.open();
  try {
    for await (const followed of client.followLive(handle, { signal: following.signal })) {
      if ('said' in followed) {
        view.showSaid(followed);
        output.object({ type: 'said', handle: followed.handle, ...followed.said });
        continue;
      }
      const emitted = await dataOf(client, followed);
      const printed = await saidByFailed(client, followed);
      view.show(followed, emitted, printed);
      output.object({ ...followed.event, handle: followed.handle, ...(emitted === null ? {} : { data: emitted }) });
      if (printed.length > 0)
        output.object({ type: 'stderr', handle: followed.handle, key: followed.event.key, lines: printed });
      waits = await isWaiting(client, followed.handle, followed.event);
      if (waits) how = howToGoOn(followed.handle, followed.event);
      if (waits && !output.isTerminal) break;
      if (waits) output.line(output.paint.warn(`  waiting: ${how}`));
    }
  } finally {
    view.close();
    hands.release();
  }
  const report = await (waits || hands.left !== null ? client.status(handle) : client.result(handle));
  output.object(report);
  if (hands.left !== null && report.outcome === null) return hands.left;
  for (const line of reportLines(report, output.paint)) output.line(line);
  if (waits && report.outcome === null) {
    output.note(`sentinel: the run is waiting: ${how}; "sentinel follow ${handle}" shows it.`);
    return EXIT.waiting;
  }
  return exitCodeOfRun(report);
}

/** What a step emitted; null where it emitted nothing. */
async function dataOf(client: OpenClient, { handle, event }: FollowedEvent): Promise<Json> {
  if (event.type !== 'step-finished' || event.step !== 'emit' || event.outcome !== 'ok') return null;
  return client.emittedBy(handle, event.key);
}

/** False for a pause or a question that is over: the events of the past are followed too. */
async function isWaiting(client: OpenClient, handle: string, event: RunEvent): Promise<boolean> {
  if (event.type === 'asked')
    return (await client.inbox({ handle })).some(
      ({ id, handle: asking }) => asking === handle && id === event.question.id,
    );
  if (event.type !== 'paused' || (await client.heldBy(handle))?.seq !== event.seq) return false;
  // At a limit the question says how to continue; it is stored after this event.
  return !isAtLimit(event.reason) || (await pollUntil(ASKED_MS, () => asks(client, handle))) === undefined;
}

async function asks(client: OpenClient, handle: string): Promise<true | undefined> {
  return (await client.inbox({ handle })).some(({ handle: asking }) => asking === handle) || undefined;
}

function howToGoOn(handle: string, event: RunEvent): string {
  if (event.type !== 'asked') return `"sentinel resume ${handle}" continues it`;
  const [first = '', ...answers] = howToAnswer({ ...event.question, handle });
  if (first.startsWith('sentinel ')) return [first, ...answers].map((line) => `"${line}"`).join(' or ');
  if (first.startsWith('needs ')) return `it ${first}: ${answers.join(' or ')}`;
  return [first, ...answers].join(', or ');
}

interface Hands {
  /** The exit code, if the person left before the run had ended. */
  readonly left: number | null;
  release(): void;
}

function onInterrupts(client: OpenClient, handle: string, output: Output, detach: () => void): Hands {
  const state = { presses: 0, left: null as number | null, timer: undefined as NodeJS.Timeout | undefined };
  const leave = (exitCode: number): void => {
    state.left = exitCode;
    detach();
    setTimeout(() => process.exit(exitCode), LEAVE_MAX_MS).unref();
  };
  const press = (): void => {
    state.presses += 1;
    if (state.presses === 1) {
      output.note('');
      output.note(
        `sentinel: detaching, the run continues; "sentinel follow ${handle}" re-attaches. Press Ctrl-C again to cancel the run.`,
      );
      state.timer = setTimeout(() => leave(EXIT.ok), DETACH_MS);
    } else if (state.presses === 2) {
      clearTimeout(state.timer);
      output.note('');
      output.note('sentinel: cancelling the run; Ctrl-C again leaves at once');
      state.timer = setTimeout(() => {
        output.note(`sentinel: the run has not ended yet; "sentinel status ${handle}" shows how it stands.`);
        leave(EXIT.cancelled);
      }, CANCEL_MAX_MS);
      void client.requestCancel(handle).catch((error: unknown) => {
        if (error instanceof ClientError && error.code === 'RUN_ENDED') return;
        output.note(`sentinel: ${error instanceof Error ? error.message : String(error)}`);
        leave(EXIT.failed);
      });
    } else {
      process.exit(EXIT.cancelled);
    }
  };
  process.on('SIGINT', press);
  return {
    get left() {
      return state.left;
    },
    release() {
      clearTimeout(state.timer);
      process.off('SIGINT', press);
    },
  };
}

/**
 * The last lines that a step wrote to stderr, where it failed or its process ended non-zero; of a long line its beginning
 * and its end: the whole of it is for `logs`.
 */
const LINES_MAX = 10;
const LINE_CHARS_MAX = 2000;

export async function saidByFailed(
  client: Pick<OpenClient, 'logs'>,
  { handle, event }: FollowedEvent,
): Promise<string[]> {
  if (event.type !== 'step-finished' || (event.step !== 'shell' && event.step !== 'command')) return [];
  if (event.failure === undefined && exitCodeOf(event) === 0) return [];
  const { lines } = await client.logs(handle, { stream: 'stderr', step: event.key }, LINES_MAX);
  return lines.map(({ text }) => cutLine(text));
}

/** On one line, with what was left out in characters. */
export function cutLine(text: string): string {
  if (text.length <= LINE_CHARS_MAX) return text;
  const half = LINE_CHARS_MAX / 2;
  const [begin, end] = [text.slice(0, half), text.slice(-half)];
  return `${begin} [… ${text.length - 2 * half} characters …] ${end}`.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
