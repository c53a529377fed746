/** One turn at a provider: what the model takes, one request, and what came of it. */
import { Assembler } from '../answer/assembler.ts';
import { unreadable } from '../http/call.ts';
import { TurnError, type Finding, type TurnFailure } from '../port/turn-failure.ts';
import { TURN_LIMITS, type TurnOptions, type TurnRequest, type TurnResult } from '../port/turn.ts';
import type { TokenUsage } from '../../../language/models/token-usage.ts';
import { defined } from '../../../language/defined.ts';
import type { ModelFacts } from '../records/facts.ts';
import { estimateRequest } from '../request/estimate.ts';
import { fitRequest } from '../request/fit-request.ts';
import { wireNames } from '../request/wire-names.ts';
import type { Provider } from './provider.ts';

/** Rejects only with the reason of the signal, or with a bug. */
export async function takeTurn(
  provider: Provider,
  asked: TurnRequest,
  facts: ModelFacts,
  options: TurnOptions,
): Promise<TurnResult> {
  const author = `${provider.name}/${asked.model}`;
  const limits = { ...TURN_LIMITS, ...options.limits };
  let assembler: Assembler | undefined;
  options.signal.throwIfAborted();
  try {
    if (provider.missing !== null) throw missing(provider, author);
    const { request, omitted } = fitRequest(asked, facts, author);
    const names = wireNames(request.tools ?? []);
    const { answerBytesMax } = limits;
    const reading = new Assembler({ request, names, answerBytesMax, onDelta: options.onDelta });
    assembler = reading;
    const { tape } = options;
    const reply = await provider.send(request, {
      facts,
      names,
      assembler,
      signal: options.signal,
      limits,
      tape: tape && { kept: tape.kept, keep: (answer) => tape.keep(answer, reading.estimate()) },
    });
    const window = request.window ?? facts.window;
    checkForgotten(request, reply.usage, window, author);
    return { ok: true, reply: { ...reply, author, omitted } };
  } catch (error) {
    const spent = assembler?.spent();
    if (options.signal.aborted) {
      if (spent !== undefined) options.onCut?.(spent);
      throw options.signal.reason;
    }
    if (!(error instanceof TurnError) && spent === undefined) throw error;
    const found = error instanceof TurnError ? error : unreadable(provider.name, asError(error));
    return { ok: false, failure: failureOf(knowing(found, facts, author), provider.name, asked.model, spent) };
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function missing({ missing: what, setting }: Provider, author: string): TurnError {
  const finding: Finding = setting === null ? { kind: 'model-not-found', retired: false } : { kind: 'auth', setting };
  return new TurnError(finding, `${author}: ${what ?? ''}`);
}

/** A model that is not found, and was to go, has gone. */
function knowing(error: TurnError, { retires }: ModelFacts, author: string): TurnError {
  if (error.finding.kind !== 'model-not-found' || retires === null) return error;
  const advice = retires.instead === null ? 'another' : `"${retires.instead}", which the provider recommends`;
  return new TurnError(
    { kind: 'model-not-found', retired: true },
    `${author}: the provider has retired this model (${retires.on}); name ${advice}, or give it an entry in "models.aliases" of sentinel.config`,
    { cause: error, ...defined({ status: error.status }) },
  );
}

export function failureOf(
  { finding, message, status, requestId }: TurnError,
  provider: string,
  model: string,
  spent?: TokenUsage,
): TurnFailure {
  return {
    ...finding,
    message,
    provider,
    model,
    ...defined({ status, requestId, spent }),
  };
}

/** A server that drops the oldest messages does not say so; what it says it has read is then far too little. */
function checkForgotten(request: TurnRequest, usage: TokenUsage, window: number | null, author: string): void {
  if (usage.estimated || window === null) return;
  const sent = estimateRequest(request);
  const read = usage.input + usage.cacheRead + usage.cacheWrite;
  if (sent <= window || read > sent * 0.6) return;
  throw new TurnError(
    { kind: 'context-too-long', tokens: sent, window },
    `${author} read ${read} of about ${sent} tokens, so it left a part of the conversation out; shorten it, or give the model a larger window`,
  );
}
