/**
 * A host that knows what some steps came to and waits for nothing else: it walks a position on
 * through what was in flight when it was taken and ended well later, and leaves every other line of
 * execution where it stood. Pure, like the interpreter.
 */
import type { Step } from '../../language/model.ts';
import { drive } from '../../interpreter/drive.ts';
import {
  type Gate,
  type Host,
  type RunInput,
  type SegmentReport,
  type Strand,
  PassingHost,
} from '../../interpreter/host.ts';
import type { Effect, Reply } from '../../interpreter/effect.ts';
import type { Position } from '../../interpreter/position.ts';
import { textFieldsOf } from '../../interpreter/program.ts';
import { walkRun } from '../../interpreter/walk.ts';
import { runInputOf } from '../messages/start-input.ts';
import type { Settlement, Standing } from './retrace.ts';

class KeptHost extends PassingHost implements Host {
  private readonly at: number;
  private readonly replies = new Map<string, Reply>();
  private readonly reports = new Map<string, SegmentReport>();

  constructor(at: number, settlements: readonly Settlement[]) {
    super();
    this.at = at;
    for (const settled of settlements) {
      if ('reply' in settled) this.replies.set(settled.key, settled.reply);
      else this.reports.set(settled.key, settled.report);
    }
  }

  now(): number {
    return this.at;
  }

  gate(_strand: Strand, key: string, _step: Step, isOpen: boolean): Gate {
    if (isOpen || this.replies.has(key)) return 'go';
    return this.reports.has(key) ? 'segment' : 'yield';
  }

  perform(_strand: Strand, effect: Effect): Promise<Reply> {
    const reply = this.replies.get(effect.key);
    if (reply === undefined) throw new Error(`bug: "${effect.key}" was let through without a reply`);
    return Promise.resolve(reply);
  }

  segment(_strand: Strand, key: string): Promise<SegmentReport> {
    const report = this.reports.get(key);
    if (report === undefined) throw new Error(`bug: the segment "${key}" was let through without a report`);
    // A loop may come to the same place again, which is another segment.
    this.reports.delete(key);
    return Promise.resolve(report);
  }

  record(): void {}
}

/** What failed, or was cancelled, is done again. */
function endedWell(settled: Settlement): boolean {
  if ('reply' in settled) return settled.reply.ok;
  return settled.report.flow.kind === 'yield' || settled.report.flow.kind === 'done';
}

/** The position with what was in flight in it and ended well. */
export async function settlePosition(
  { start, now, position, inFlight }: Standing,
  settlements: readonly Settlement[],
): Promise<Position> {
  const kept = settlements.filter((settled) => inFlight.includes(settled.key) && endedWell(settled));
  if (kept.length === 0) return position;
  const host = new KeptHost(now, kept);
  const input = withoutLimits(runInputOf(start, '', position.loop.startedAt));
  const held = { ...position, paused: null, stopping: false };
  const flow = await drive(walkRun({ input, position: held, host, textFields: textFieldsOf(input) }), () => undefined);
  if (flow.kind !== 'yield') throw new Error(`bug: a position of a run under way was walked to its end (${flow.kind})`);
  return held;
}

/** Limits and approvals have been dealt with: these steps were begun. */
function withoutLimits(input: RunInput): RunInput {
  return { ...input, limits: { maxIterations: null, timeoutMs: null, stepTimeoutMs: null, nestingDepth: null } };
}
