/**
 * How a conversation is made to fit: results of calls make room first, the oldest before the others, then
 * results of the latest turn are cut, and only then whole turns go, the oldest first. Much goes at once, because
 * whatever changes early in a prompt costs the provider's cache of all that follows.
 */
import type { AutoCompact } from '../../../interpreter/effect.ts';
import type { PlacedMessage } from '../../../prisma/store/contract/models/conversation-contract.ts';
import type { Message } from '../../../world/models/port/message.ts';
import type { ModelFacts } from '../../../world/models/records/facts.ts';
import { estimateBlocks, estimateText, MESSAGE_TOKENS } from '../../../world/models/request/estimate.ts';
import { shortResultMax, shown, shownRow, type Plan } from './view.ts';

const usualThreshold = 0.95;
/** Tokens kept free for an answer whose step does not say how long it may be. */
const reserveMax = 16_384;
const summaryTokensMax = 4_000;
/** What a compaction that leaves turns out must bring at least, as a share of the room; and what is enough without. */
const leastShare = 0.1;
const enoughShare = 0.75;

/** Tokens. */
export interface Room {
  window: number | null;
  /** For the answer. */
  reserve: number;
  /** For the prompt. */
  prompt: number;
}

export function roomOf(
  window: number,
  { maxOutput }: Pick<ModelFacts, 'maxOutput'>,
  { maxTokens, autoCompact }: { maxTokens?: number; autoCompact?: AutoCompact | false },
): Room {
  const usual = Math.min(maxOutput ?? reserveMax, reserveMax, Math.floor(window / 4));
  const { threshold = usualThreshold } = autoCompact === false ? {} : (autoCompact ?? {});
  const full = Math.floor(window * threshold);
  const reserve = Math.min(maxTokens ?? usual, Math.floor(full / 2));
  return { window, reserve, prompt: full - reserve };
}

export interface Measure {
  /** Of what stands beside the messages: tools, schema. */
  fixed: number;
  /** Tokens by the provider's count for each that is estimated. */
  scale: number;
}

export function tokensOf(rows: readonly PlacedMessage[], { fixed, scale }: Measure): number {
  return Math.ceil(scale * rows.reduce((sum, row) => sum + tokensOfRow(row), fixed));
}

function tokensOfRow({ message }: PlacedMessage): number {
  const { role, blocks } = message as unknown as Message;
  if ((role as string) === 'system') return estimateText(JSON.stringify(message['text']));
  return MESSAGE_TOKENS + estimateBlocks(blocks);
}

export interface Planned {
  /** Without what is to stand in the place of the turns that go. */
  plan: Plan;
  strategy: 'results' | 'turns';
  /** Tokens that a summary may have. */
  summaryTokens: number;
}

/** Null where it cannot be made shorter by enough. `isAgain`: a compaction before this turn was not enough. */
export function planFor(
  rows: readonly PlacedMessage[],
  before: Plan,
  room: Room,
  { measure, isAgain }: { measure: Measure; isAgain: boolean },
): Planned | null {
  const latest = rows.at(-1)?.turn ?? 0;
  if (latest === 0) return null;
  const goal = Math.floor(room.prompt / (isAgain ? 4 : 2));
  const tokens = (plan: Plan): number => tokensOf(shown(rows, plan), measure);
  const whole = tokens(before);
  const brings = (after: number): boolean => after <= room.prompt && after <= whole - leastShare * room.prompt;
  const summaryTokens = Math.floor(Math.min(room.reserve, summaryTokensMax, goal / 3));
  const results = withCut(rows, withResultsOut(rows, before, { latest, goal, measure }), { latest, goal, measure });
  const after = tokens(results);
  if (brings(after) && after <= (isAgain ? 0.5 : enoughShare) * room.prompt)
    return { plan: results, strategy: 'results', summaryTokens };
  const turns = withTurnsOut(rows, results, { latest, goal: goal - summaryTokens, measure });
  if (turns.turnsBefore <= before.turnsBefore)
    return brings(after) ? { plan: results, strategy: 'results', summaryTokens } : null;
  return brings(tokens(turns) + summaryTokens) ? { plan: turns, strategy: 'turns', summaryTokens } : null;
}

interface Towards {
  latest: number;
  goal: number;
  measure: Measure;
}

function withResultsOut(rows: readonly PlacedMessage[], before: Plan, { latest, goal, measure }: Towards): Plan {
  // What was cut for an earlier turn is left out now.
  const from = Math.max(
    before.resultsBefore,
    before.cut !== null && before.cut.turn < latest ? before.cut.turn + 1 : 1,
  );
  const plan = { ...before, resultsBefore: from, cut: before.cut?.turn === latest ? before.cut : null };
  let tokens = tokensOf(shown(rows, plan), measure);
  for (let turn = from; turn < latest && tokens > goal; turn += 1) {
    plan.resultsBefore = turn + 1;
    if (turn < plan.turnsBefore) continue;
    for (const row of rows.filter((one) => one.turn === turn)) {
      const out = shownRow(row, plan);
      tokens -= Math.floor(measure.scale * (tokensOfRow(row) - tokensOfRow(out)));
    }
  }
  return plan;
}

/** Results of the latest turn get half of what is aimed at. */
function withCut(rows: readonly PlacedMessage[], plan: Plan, { latest, goal, measure }: Towards): Plan {
  const results = rows.filter((row) => row.turn === latest && isResult(row)).map((row) => shownRow(row, plan));
  if (results.length === 0 || tokensOf(results, { ...measure, fixed: 0 }) <= goal / 2) return plan;
  const characters = Math.floor((goal * 2) / measure.scale / results.length);
  return { ...plan, cut: { turn: latest, characters: Math.max(shortResultMax, characters) } };
}

const isResult = ({ message }: PlacedMessage): boolean => {
  const { role, blocks } = message as unknown as Message;
  return role === 'user' && blocks.some(({ type }) => type === 'tool-result');
};

/** As many of the latest turns stay as fit, and the latest always. */
function withTurnsOut(rows: readonly PlacedMessage[], plan: Plan, { latest, goal, measure }: Towards): Plan {
  const { scale } = measure;
  let tokens = tokensOf(
    rows.filter(({ turn }) => turn === 0),
    measure,
  );
  let turnsBefore = latest;
  for (let turn = latest; turn >= plan.turnsBefore; turn -= 1) {
    const own = rows.filter((row) => row.turn === turn).map((row) => shownRow(row, plan));
    tokens += tokensOf(own, { fixed: 0, scale });
    if (tokens > goal && turn < latest) break;
    turnsBefore = turn;
  }
  return { ...plan, turnsBefore, instead: null };
}
