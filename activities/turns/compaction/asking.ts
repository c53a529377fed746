/** What a compaction needs to know of the turn that it comes before. */
import type { TurnRequest } from '../../../interpreter/contract.ts';
import type { Conversations, PlacedMessage } from '../../../prisma/store/contract/models/conversation-contract.ts';
import type { JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import type { TurnFailure } from '../../../world/models/port/turn-failure.ts';
import type { Tool, TurnReply, TurnResult } from '../../../world/models/port/turn.ts';
import { estimateRequest, estimateText } from '../../../world/models/request/estimate.ts';
import type { AnsweringModel } from '../cassettes/answering.ts';
import type { Asking } from './compactor.ts';
import { tokensOf } from './plan.ts';
import { shown, type Plan } from './view.ts';
import { toolsInText, cutResult, clearedResult } from '../prompts/prompts.ts';

/** One request with these messages; for a summary, of at most so many tokens. */
export type Send = (rows: readonly PlacedMessage[], summaryTokens?: number) => Promise<TurnResult>;

interface Shown {
  rows: readonly PlacedMessage[];
  plan: Plan;
  model: AnsweringModel;
  /** Tokens of what stands beside the messages. */
  fixed: number;
  send: Send;
  /** What is thrown where a summary failed in a way that waiting may cure. */
  thrown: (failure: TurnFailure) => Error;
}

export async function askingFor(
  conversations: Conversations,
  { conversation, turn, compaction, settings }: TurnRequest,
  { handle, ...asker }: { handle: string } & Pick<Asking, 'attempt' | 'asked' | 'isPaid'>,
  { rows, plan, model, fixed, send, thrown }: Shown,
): Promise<Asking> {
  const of = { handle, conversation };
  const last = turn === 1 ? null : await conversations.find(of, turn - 1);
  return {
    conversations,
    of,
    turn,
    ...asker,
    rows,
    plan,
    times: compaction?.turn === turn ? compaction.number : 0,
    measure: { fixed, scale: scaleOf(last) },
    settings,
    model,
    summarize: async (said, tokens) => summaryIn(await send(said, tokens), thrown),
  };
}

const scaleMin = 0.5;
const scaleMax = 4;

/** What the provider counted in the turn before, for each token that was estimated. */
function scaleOf(answer: JsonObject | null): number {
  const { estimated, outcome } = (answer ?? {}) as {
    estimated?: number;
    outcome?: { usage?: { input: number; cacheRead: number; cacheWrite: number; estimated: boolean } };
  };
  const usage = outcome?.usage;
  if (usage === undefined || usage.estimated || estimated === undefined || estimated === 0) return 1;
  const counted = usage.input + usage.cacheRead + usage.cacheWrite;
  return counted === 0 ? 1 : Math.min(scaleMax, Math.max(scaleMin, counted / estimated));
}

/** What waiting may cure is a failure of the turn; a model that has no summary to give is done without. */
function summaryIn(result: TurnResult, thrown: Shown['thrown']): TurnReply | null {
  if (result.ok) return result.reply;
  const { failure } = result;
  if (['context-too-long', 'content-refused', 'bad-request', 'answer-too-large'].includes(failure.kind)) return null;
  throw thrown(failure);
}

export function fixedTokens(
  tools: readonly Tool[],
  { inText, schema }: { inText: boolean; schema?: JsonObject },
): number {
  const told = inText ? estimateText(toolsInText.render({ tools })) : 0;
  return (
    told +
    estimateRequest({
      model: '',
      messages: [],
      ...defined({ schema }),
      ...(inText ? {} : { tools }),
    })
  );
}

/** Our own words in what is shown. */
export function promptsShown({ resultsBefore, cut }: Plan): { [name: string]: number } {
  return {
    ...(resultsBefore > 1 ? { [clearedResult.name]: clearedResult.version } : {}),
    ...(cut === null ? {} : { [cutResult.name]: cutResult.version }),
  };
}

export const estimatedTokens = (rows: readonly PlacedMessage[], plan: Plan, fixed: number): number =>
  tokensOf(shown(rows, plan), { fixed, scale: 1 });
