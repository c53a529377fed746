/**
 * Shortens what a model is shown of a conversation, before a turn that would not fit. The turn is then asked for
 * again with that: what was decided is kept under a key of its own (`steps.2@1/turn.7/compaction.1`), as a
 * turn is, and so is the summary that a model was paid for.
 */
import type { AutoCompact, Compacted, TurnOutcome } from '../../../interpreter/effect.ts';
import type { JsonObject } from '../../../language/json.ts';
import { compactionKey } from '../../../language/models/turn-keys.ts';
import type {
  AnswerTaken,
  ConversationOf,
  Conversations,
  PlacedMessage,
} from '../../../prisma/store/contract/models/conversation-contract.ts';
import { textOf, type Message } from '../../../world/models/port/message.ts';
import type { TurnReply, TurnResult } from '../../../world/models/port/turn.ts';
import { NO_USAGE, plusUsage, type TokenUsage } from '../../../language/models/token-usage.ts';
import { costOf } from '../../../world/models/records/facts.ts';
import type { AnsweringModel } from '../cassettes/answering.ts';
import { summary, summarized, leftOut } from '../prompts/prompts.ts';
import { planFor, roomOf, tokensOf, type Measure, type Planned, type Room } from './plan.ts';
import { NOTHING_LEFT_OUT, shown, type Plan } from './view.ts';
import { CHARACTERS_A_TOKEN } from '../../../world/models/request/estimate.ts';
import { crashPoint } from '../../../world/crash-points/crash-point.ts';

/** Compactions before one turn. */
const timesMax = 2;
const toldMax = 20;
const toldLengthMax = 1000;
const WORDS_A_TOKEN = 0.6;

export interface Asking {
  conversations: Conversations;
  of: ConversationOf;
  turn: number;
  attempt: string;
  /** The requests of the turn so far, and the key under which it is asked for. */
  asked: AnswerTaken['asked'];
  /** False where what is said was recorded. */
  isPaid: boolean;
  rows: readonly PlacedMessage[];
  /** What is shown now, and how many compactions led to it before this turn. */
  plan: Plan;
  times: number;
  measure: Measure;
  settings: { maxTokens?: number; autoCompact?: AutoCompact | false };
  model: AnsweringModel;
  /** One request with what stands beside the messages of this turn. Null where the model has no summary to give. */
  summarize(rows: readonly PlacedMessage[], maxTokens: number): Promise<TurnReply | null>;
}

/** What a turn came to that the model had no room for, where that can be helped. */
export async function whenTooLong(asking: Asking, result: TurnResult): Promise<TurnOutcome | null> {
  if (result.ok)
    return result.reply.stopReason === 'window-full'
      ? whenOverflown(asking, { tokens: null, window: null }, result.reply.usage)
      : null;
  const { failure } = result;
  return failure.kind === 'context-too-long' ? whenOverflown(asking, failure, failure.spent) : null;
}

/** What it came to, in place of the turn; null where the turn is to be taken as it is. */
export async function whenFull(asking: Asking): Promise<TurnOutcome | null> {
  const { settings, model, times } = asking;
  const { window } = model.facts;
  if (settings.autoCompact === false || window === null || times > 0) return null;
  const room = roomOf(window, model.facts, settings);
  const before = tokensOf(shown(asking.rows, asking.plan), asking.measure);
  return before <= room.prompt ? null : await compact(asking, room, { because: 'full', before });
}

/** `said`: what the provider said of it; `wasted`: what the request cost. Null where nothing can be done. */
async function whenOverflown(
  asking: Asking,
  said: { tokens: number | null; window: number | null },
  wasted: TokenUsage = NO_USAGE,
): Promise<TurnOutcome | null> {
  const { settings, model, times, rows, plan } = asking;
  if (settings.autoCompact === false || times >= timesMax) return null;
  const estimated = tokensOf(shown(rows, plan), asking.measure);
  const window = said.window ?? model.facts.window;
  // Whatever was estimated, it was more than there is room for.
  const before = Math.max(said.tokens ?? 0, estimated, window ?? 0);
  const measure = { ...asking.measure, scale: asking.measure.scale * (before / Math.max(1, estimated)) };
  const room = roomOf(window ?? Math.floor(before * 0.7), model.facts, settings);
  return compact({ ...asking, measure }, { ...room, window }, { because: 'overflow', before, wasted });
}

interface Cause extends Pick<Compacted, 'because' | 'before'> {
  wasted?: TokenUsage;
}

async function compact(asking: Asking, room: Room, cause: Cause): Promise<TurnOutcome | null> {
  const { conversations, times, rows, plan, measure, turn, attempt } = asking;
  const number = times + 1;
  const of = { ...asking.of, conversation: compactionKey(asking.of.conversation, turn, number) };
  const { answer: kept } = await conversations.claim(of, 1, attempt, { isRequest: false });
  if (kept !== null) return kept['outcome'] as unknown as TurnOutcome;
  const at = { handle: of.handle, key: of.conversation };
  crashPoint('compaction.claimed', at);
  const planned = planFor(rows, plan, room, { measure, isAgain: times > 0 });
  if (planned === null) return null;
  const made = planned.strategy === 'results' ? nothingInstead(planned) : await inPlaceOfTurns(asking, planned, room);
  crashPoint('compaction.made', at);
  const after = tokensOf(shown(rows, made.plan), measure);
  const { name, facts } = asking.model;
  const usage = plusUsage(made.usage, cause.wasted ?? NO_USAGE);
  const outcome: TurnOutcome = {
    stopReason: 'compacted',
    calls: [],
    usage,
    usd: costOf(usage, facts.prices),
    model: name,
    compacted: {
      number,
      strategy: made.strategy,
      because: cause.because,
      before: cause.before,
      after,
      window: room.window,
    },
  };
  const answer = { outcome, plan: made.plan, prompts: made.prompts } as unknown as JsonObject;
  const message = { role: 'user', blocks: [{ type: 'text', text: made.plan.instead ?? '' }] };
  const spent = asking.isPaid ? { model: name, tokens: usage, usd: outcome.usd } : null;
  const first = await conversations.answer(of, 1, answer, message, { attempt, spent, asked: asking.asked });
  crashPoint('compaction.kept', at);
  return first['outcome'] as unknown as TurnOutcome;
}

interface Made {
  plan: Plan;
  strategy: Compacted['strategy'];
  usage: TokenUsage;
  /** Our own prompts that it used, with their versions. */
  prompts: { [name: string]: number };
}

const nothingInstead = ({ plan }: Planned): Made => ({ plan, strategy: 'results', usage: NO_USAGE, prompts: {} });

async function inPlaceOfTurns(asking: Asking, planned: Planned, room: Room): Promise<Made> {
  const { plan, summaryTokens } = planned;
  const turns = plan.turnsBefore - 1;
  const { autoCompact } = asking.settings;
  const isTruncated = typeof autoCompact === 'object' && autoCompact.strategy === 'truncate';
  const reply = isTruncated ? null : await askForSummary(asking, planned, room);
  const usage = reply?.usage ?? NO_USAGE;
  const text =
    reply === null
      ? ''
      : textOf(reply.blocks)
          .trim()
          .slice(0, summaryTokens * CHARACTERS_A_TOKEN);
  if (text !== '')
    return {
      plan: { ...plan, instead: summarized.render({ turns, summary: text }), summary: { turns, text } },
      strategy: 'summarize',
      usage,
      prompts: { [summary.name]: summary.version, [summarized.name]: summarized.version },
    };
  const before =
    plan.summary === null ? [] : [summarized.render({ turns: plan.summary.turns, summary: plan.summary.text })];
  const instead = [leftOut.render({ turns, said: toldIn(asking.rows, plan.turnsBefore) }), ...before].join('\n\n');
  return {
    plan: { ...plan, instead },
    strategy: 'truncate',
    usage,
    prompts: {
      [leftOut.name]: leftOut.version,
      ...(before.length === 0 ? {} : { [summarized.name]: summarized.version }),
    },
  };
}

/** Behind exactly what the model has been shown before, so that the provider has it in its cache; unless there is no room. */
async function askForSummary(
  asking: Asking,
  { plan, summaryTokens }: Planned,
  { window, reserve }: Room,
): Promise<TurnReply | null> {
  const older = asking.rows.filter(({ turn }) => turn < plan.turnsBefore);
  const asBefore = shown(older, asking.plan);
  const isRoom = tokensOf(asBefore, asking.measure) + reserve <= (window ?? Infinity);
  const said = isRoom ? asBefore : shown(older, { ...asking.plan, resultsBefore: plan.turnsBefore });
  const text = summary.render({ words: Math.max(50, Math.floor(summaryTokens * WORDS_A_TOKEN)) });
  const prompt = { role: 'user', blocks: [{ type: 'text', text }] };
  return asking.summarize([...said, { turn: plan.turnsBefore, part: 0, message: prompt }], reserve);
}

/** What people said in turns that go; prompts of our own were about those turns. */
function toldIn(rows: readonly PlacedMessage[], before: number): string[] {
  return rows
    .filter(({ turn, message }) => turn > 0 && turn < before && message['prompt'] === undefined)
    .flatMap(({ message }) => {
      const { role, blocks } = message as unknown as Message;
      return role === 'user' ? blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : [];
    })
    .slice(-toldMax)
    .map((text) => text.slice(0, toldLengthMax));
}

/** What the turns of a conversation are shown since a compaction. */
export async function planAt(
  conversations: Conversations,
  of: ConversationOf,
  at: { turn: number; number: number } | undefined,
): Promise<Plan> {
  if (at === undefined) return NOTHING_LEFT_OUT;
  const kept = await conversations.find({ ...of, conversation: compactionKey(of.conversation, at.turn, at.number) }, 1);
  return kept === null ? NOTHING_LEFT_OUT : (kept['plan'] as unknown as Plan);
}
