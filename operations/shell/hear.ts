/** What the process of a step prints, on its way into the step's result and into its log. */
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import type { HearKept, KeptStream, KeptStreams } from '../../world/processes/kept/kept-streams.ts';
import { noSecrets } from '../secrets/secrets.ts';
import type { Child } from './child.ts';
import type { ShellContext, ShellRequest } from './request.ts';
import { Capture } from './output/capture.ts';
import type { BegunLog } from './output/log-begun.ts';
import type { StepLog, StreamName } from './output/step-log.ts';
import { heldMax, StreamMask } from './output/stream-mask.ts';

export interface Captures {
  stdout: Capture;
  stderr: Capture;
  output: Capture;
}

export interface Begun {
  streams: KeptStreams;
  log: BegunLog;
  readBytes: Record<KeptStream, number>;
}

export interface Heard {
  child: Pick<Child, 'listen'>;
  log: StepLog;
  captures: Captures;
  begun: Begun | null;
}

export function openCaptures(bytes: number): Captures {
  const size = Math.min(bytes, SHELL_BOUNDS.captureBytesMax);
  return { stdout: new Capture(size), stderr: new Capture(size), output: new Capture(size) };
}

/** What it prints, to the captures of its result and to its log; of what was read before, the log has its part. */
export function hear(
  request: ShellRequest,
  context: ShellContext,
  { child, log, begun, captures }: Heard,
): { end(): void } {
  const { results, logs } = context.secrets ?? noSecrets();
  const names = ['stdout', 'stderr'] as const;
  const masked = { stdout: new StreamMask(results), stderr: new StreamMask(results) };
  const again = begun === null ? null : { stdout: new StreamMask(results), stderr: new StreamMask(results) };
  const shown = { stdout: new StreamMask(logs), stderr: new StreamMask(logs) };
  const isLogged = request.isLogged !== false;
  const capture = (name: StreamName, chunk: Buffer): void => {
    captures[name].write(chunk);
    if (name === 'stdout') request.hears?.(chunk);
    captures.output.write(chunk);
  };
  const toLog = (name: StreamName, chunk: Buffer, readBytes: number): void => {
    const text = shown[name].write(chunk);
    log.write(name, text, readBytes - (again ?? masked)[name].held - shown[name].held);
  };
  /** What stands before it is only read so that a value which begins there is masked. */
  const shownFrom = { stdout: 0, stderr: 0 };
  const on = (name: StreamName, chunk: Buffer, end: number): void => {
    const after = (from: number): Buffer => chunk.subarray(Math.max(0, chunk.length - (end - from)));
    const hidden = chunk.length - (end > shownFrom[name] ? after(shownFrom[name]).length : 0);
    if (hidden > 0) {
      masked[name].write(chunk.subarray(0, hidden));
      for (const of of [name, 'output'] as const) captures[of].skip(hidden);
    }
    const result = masked[name].write(chunk.subarray(hidden));
    capture(name, result);
    if (!isLogged) return;
    if (again === null || begun === null) return toLog(name, result, end);
    const { from, readFrom } = begun.log.streams[name];
    if (end <= readFrom) return;
    const logged = Math.max(from, shownFrom[name]);
    const rest = end > logged ? after(logged) : Buffer.alloc(0);
    const before = after(readFrom);
    shown[name].write(again[name].write(before.subarray(0, before.length - rest.length)));
    if (rest.length > 0) toLog(name, again[name].write(rest), end);
  };
  if (begun !== null) replay(begun, { on, log, captures, shownFrom });
  child.listen(on);
  return {
    end() {
      for (const name of names) {
        const rest = masked[name].end();
        capture(name, rest);
        if (!isLogged) continue;
        log.write(name, shown[name].write(again === null ? rest : again[name].end()));
        log.write(name, shown[name].end());
      }
    },
  };
}

interface Replay extends Pick<Heard, 'log' | 'captures'> {
  on: HearKept;
  shownFrom: Record<KeptStream, number>;
}

/** The parts that a bound has left out are not on the disk any more. */
function replay({ streams, log: begun, readBytes }: Begun, { on, log, captures, shownFrom }: Replay): void {
  const { keptEdgeBytes } = SHELL_BOUNDS;
  const skipTo = (name: KeptStream, to: number): void => {
    const skipped = streams.skip(name, to);
    captures[name].skip(skipped);
    captures.output.skip(skipped);
    if (skipped > 0) shownFrom[name] = to + heldMax;
  };
  for (const { stream, until } of begun.order) {
    streams.replay(stream, Math.min(until, keptEdgeBytes), on);
    skipTo(stream, Math.min(until, readBytes[stream] - keptEdgeBytes));
    streams.replay(stream, until, on);
  }
  for (const name of ['stdout', 'stderr'] as const) {
    const from = readBytes[name] - keptEdgeBytes;
    if (from <= keptEdgeBytes) continue;
    log.drop(name, Math.max(0, from + heldMax - begun.streams[name].from));
    skipTo(name, from);
  }
}
