/** One turn of a loaded model. Nothing of a prompt is ever dropped: what does not fit is a failure. */
import type { ChatModelFunctions, Llama, LlamaChatResponse, LLamaChatGenerateResponseOptions } from 'node-llama-cpp';
import type { Effort, StopReason } from '../port/turn.ts';
import { TurnError } from '../port/turn-failure.ts';
import type { OpenContext } from './contexts.ts';
import type { FromModel, LocalTurn, LocalUsage } from './protocol.ts';
import { toHistory } from './to-history.ts';
import { defined } from '../../../language/defined.ts';

type Told = FromModel extends infer Message ? (Message extends { id: number } ? Omit<Message, 'id'> : never) : never;

/** Tokens of thought; the rest of the answer is for the answer. */
const THOUGHTS: Readonly<Record<Effort, number>> = { off: 0, low: 512, medium: 2048, high: 8192, max: 32_768 };

/** Left free at the end of a context, where the library would begin to shift it. */
const MARGIN_TOKENS = 16;
/** Less is no answer. */
const ANSWER_TOKENS_MIN = 16;

export interface Ending {
  reason: StopReason;
  usage: LocalUsage;
}

export async function generate(
  llama: Llama,
  { context, chat }: OpenContext,
  turn: LocalTurn,
  signal: AbortSignal,
  tell: (message: Told) => void,
): Promise<Ending> {
  const functions = functionsOf(turn);
  const history = toHistory(turn.system, turn.messages);
  const tokens = countTokens({ context, chat }, history, functions);
  const room = context.contextSize - tokens - MARGIN_TOKENS;
  if (room < ANSWER_TOKENS_MIN)
    throw new TurnError(
      { kind: 'context-too-long', tokens, window: context.contextSize },
      `the conversation has ${tokens} tokens, and the context has room for ${context.contextSize}; shorten it, or set a larger window in "models.windows" of sentinel.config`,
    );
  tell({ type: 'begun', tokens });
  const before = chat.sequence.tokenMeter.getState();
  const maxTokens = Math.min(turn.maxTokens ?? room, room);
  const grammar = turn.schema === null ? undefined : await llama.createGrammarForJsonSchema(turn.schema as never);
  const options: LLamaChatGenerateResponseOptions<ChatModelFunctions> = {
    signal,
    maxTokens,
    ...(turn.temperature === null ? {} : { temperature: turn.temperature }),
    ...(turn.stop.length === 0 ? {} : { customStopTriggers: turn.stop }),
    ...(turn.thinking === null ? {} : { budgets: { thoughtTokens: THOUGHTS[turn.thinking] } }),
    onResponseChunk: ({ type, text }) => {
      if (text !== '') tell(type === undefined ? { type: 'text', text } : { type: 'thinking', text });
    },
    ...defined({ grammar }),
  };
  const answer: LlamaChatResponse<ChatModelFunctions> = await chat.generateResponse(
    history,
    functions === undefined ? options : ({ ...options, functions, maxParallelFunctionCalls: 16 } as typeof options),
  );
  for (const [index, call] of (answer.functionCalls ?? []).entries())
    tell({ type: 'call', index, name: call.functionName, arguments: JSON.stringify(call.params ?? {}) });
  const used = chat.sequence.tokenMeter.diff(before);
  const input = Math.min(tokens, used.usedInputTokens);
  const usage = { input, cacheRead: tokens - input, output: used.usedOutputTokens };
  return { reason: reasonOf(answer, maxTokens < (turn.maxTokens ?? Number.POSITIVE_INFINITY)), usage };
}

function functionsOf({ tools }: LocalTurn): ChatModelFunctions | undefined {
  if (tools.length === 0) return undefined;
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [name, { description, params: parameters as never }]),
  );
}

/** The prompt as the model's own template writes it, tools included. */
function countTokens(
  { context, chat }: OpenContext,
  chatHistory: Parameters<OpenContext['chat']['generateResponse']>[0],
  availableFunctions: ChatModelFunctions | undefined,
): number {
  const { contextText } = chat.chatWrapper.generateContextState({
    chatHistory,
    ...(availableFunctions === undefined ? {} : { availableFunctions, documentFunctionParams: true }),
  });
  return contextText.tokenize(context.model.tokenizer).length;
}

function reasonOf({ metadata }: LlamaChatResponse<ChatModelFunctions>, isBoundByWindow: boolean): StopReason {
  const { stopReason } = metadata;
  switch (stopReason) {
    case 'functionCalls':
      return 'tool-calls';
    case 'maxTokens':
      return isBoundByWindow ? 'window-full' : 'max-tokens';
    case 'customStopTrigger':
      return 'stop-sequence';
    case 'eogToken':
    case 'stopGenerationTrigger':
    case 'abort':
      return 'end';
    default:
      return stopReason satisfies never;
  }
}
