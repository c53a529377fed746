/**
 * A host that knows what some steps came to and waits for nothing else: it walks a position on
 * through what was in flight when it was taken and ended well later, and leaves every other line of
 * execution where it stood. Pure, like the interpreter.
 */
import type { Step } from '../../language/model.ts';
import { isWalkedInSegment } from '../../interpreter/build-effect.ts';
import { drive } from '../../interpreter/drive.ts';
import {
  type Gate,
  type Host,
  type RunInput,
  type SegmentReport,
  type Strand,
  PassingHost,
  type GroupTurn,
} from '../../interpreter/host.ts';
import type { Effect, Reply } from '../../interpreter/effect.ts';
import type { Allowed } from '../../interpreter/verdict.ts';
import { nextKeyOf, openModels } from '../../interpreter/models/open-models.ts';
import type { ModelFrame, Position } from '../../interpreter/position.ts';
import type { Json } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { textFieldsOf } from '../../interpreter/program.ts';
import { walkRun } from '../../interpreter/walk/walk.ts';
import { runInputOf } from '../messages/start-input.ts';
import type { Settlement, Standing } from './retrace.ts';

/** What the store has of models whose turns history does not have one by one. */
export interface ModelRecords {
  /** By the step's key, the turn up to which each is gone on with. */
  until: ReadonlyMap<string, number>;
  /** By their keys, what turns that were begun came to; null where they have no answer. */
  turns: ReadonlyMap<string, Json | null>;
  /** What a call came to, which has ended. */
  callReply(key: string): Reply;
}

const noRecords: ModelRecords = { until: new Map(), turns: new Map(), callReply: () => ({ ok: true, value: null }) };

class KeptHost extends PassingHost implements Host {
  readonly at: number;
  readonly position: Position;
  readonly input: RunInput;
  private readonly models: ModelRecords;
  private readonly replies = new Map<string, Reply>();
  private readonly reports = new Map<string, SegmentReport>();
  /** Where the walk first came to a step that has no reply. */
  stoppedAt: string | undefined;

  constructor(
    { at, position, input }: Pick<KeptHost, 'at' | 'position' | 'input'>,
    settlements: readonly Settlement[],
    models: ModelRecords,
  ) {
    super();
    this.at = at;
    this.position = position;
    this.input = input;
    this.models = models;
    for (const settled of settlements) {
      if ('reply' in settled) this.replies.set(settled.key, settled.reply);
      else this.reports.set(settled.key, settled.report);
    }
  }

  now(): number {
    return this.at;
  }

  gate(_strand: Strand, key: string, step: Step, isOpen: boolean): Gate {
    const gate = this.gateAt(key, step, isOpen);
    if (gate === 'yield') this.stoppedAt ??= key;
    return gate;
  }

  private gateAt(key: string, step: Step, isOpen: boolean): Gate {
    const open = step.type === 'llm' ? openModels(this.position).find((frame) => frame.key === key) : undefined;
    // A model step is gone on with as far as its turns and calls had ended.
    if (open !== undefined) return this.replies.has(nextKeyOf(open)) || this.hasRecordOf(open) ? 'go' : 'yield';
    if (step.type === 'llm' && this.hasRecordOf({ key, turn: 1 })) return 'go';
    if (isOpen) return 'go';
    // Of the first step of a segment that acted both are known.
    if (this.reports.has(key)) return 'segment';
    return this.replies.has(key) ? 'go' : 'yield';
  }

  /** A turn has an answer; of its calls none is open once the next turn has begun. */
  private hasRecordOf({ key, turn, calls }: Pick<ModelFrame, 'key' | 'turn' | 'calls'>): boolean {
    const { until, turns } = this.models;
    if (turn >= (until.get(key) ?? 0)) return false;
    return calls === undefined
      ? (turns.get(`${key}/turn.${turn}`) ?? null) !== null
      : turns.has(`${key}/turn.${turn + 1}`);
  }

  private recorded(effect: Effect): Reply | undefined {
    if (effect.type === 'command' && effect.call !== undefined) return this.models.callReply(effect.key);
    if (effect.type !== 'turn') return undefined;
    const value = this.models.turns.get(`${effect.conversation}/turn.${effect.turn}`) ?? null;
    return value === null ? undefined : { ok: true, value };
  }

  perform(_strand: Strand, { effect }: Allowed): Promise<Reply> {
    const reply = this.replies.get(effect.key) ?? this.recorded(effect);
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

  /** What was done before had it. */
  override isInSegment(step: Step): boolean {
    return isWalkedInSegment(step, this.input.catalogue, this.input.limits);
  }

  override askForGroup(): Promise<GroupTurn> {
    return Promise.resolve({ state: 'taken' });
  }

  record(): void {}
}

/** What failed, or was cancelled, is done again. */
function endedWell(settled: Settlement): boolean {
  if ('reply' in settled) return settled.reply.ok;
  return settled.report.flow.kind === 'yield' || settled.report.flow.kind === 'done';
}

/** The position with what was in flight in it and ended well. */
export async function settlePosition(standing: Standing, settlements: readonly Settlement[]): Promise<Position> {
  const { inFlight } = standing;
  const kept = settlements.filter((settled) => inFlight.includes(settled.key) && endedWell(settled));
  return kept.length === 0 ? standing.position : (await walkOn(standing, kept, noRecords)).position;
}

/** The position, and the step at it, within a segment: as a commit of it says, and what acted then and ended well later. */
export async function walkIntoSegment(
  standing: Standing,
  report: SegmentReport,
  replies: { [key: string]: Reply },
): Promise<Pick<Standing, 'position' | 'at'>> {
  const ended = Object.entries(replies).map(([key, reply]) => ({ key, reply }));
  const kept: Settlement[] = [{ key: standing.at, report }, ...ended.filter((settled) => endedWell(settled))];
  const { position, stoppedAt } = await walkOn(standing, kept, noRecords);
  return { position, at: stoppedAt ?? standing.at };
}

/** The position with what models had come to since. */
export async function advanceModels(standing: Standing, models: ModelRecords): Promise<Position> {
  return models.until.size === 0 ? standing.position : (await walkOn(standing, [], models)).position;
}

async function walkOn(
  { start, now, position }: Pick<Standing, 'start' | 'now' | 'position'>,
  kept: readonly Settlement[],
  models: ModelRecords,
): Promise<Pick<KeptHost, 'position' | 'stoppedAt'>> {
  const input = withoutLimits(runInputOf(start, '', position.loop.startedAt));
  const held = { ...position, paused: null, stopping: false };
  const host = new KeptHost({ at: now, position: held, input }, kept, models);
  const walk = { input, position: held, host, textFields: textFieldsOf(input), isDecided: true as const };
  const flow = await drive(walkRun(walk), () => undefined);
  if (flow.kind !== 'yield') throw new Error(`bug: a position of a run under way was walked to its end (${flow.kind})`);
  return { position: held, stoppedAt: host.stoppedAt };
}

/** Limits and approvals have been dealt with: these steps were begun. What a mode or a policy refused it refuses again. */
function withoutLimits(input: RunInput): RunInput {
  const { mode, policies } = input.limits;
  const limits = { maxIterations: null, timeoutMs: null, stepTimeoutMs: null, nestingDepth: null };
  return { ...input, limits: { ...limits, ...defined({ mode, policies }) } };
}
