/** A turn over a wire, with the facts of a test where it gives some. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { TurnFailure } from '../../../world/models/port/turn-failure.ts';
import type {
  Delta,
  TurnLimits,
  TurnReply,
  TurnRequest,
  TurnResult,
  TurnTape,
} from '../../../world/models/port/turn.ts';
import { takeTurn } from '../../../world/models/provider/take-turn.ts';
import type { ModelFacts } from '../../../world/models/records/facts.ts';
import { factsOf } from '../../../world/models/records/table.ts';
import { anthropicWire } from '../wires/anthropic-wire.ts';
import { Double } from '../wires/double.ts';
import { ollamaWire } from '../wires/ollama-wire.ts';
import { openAiWire } from '../wires/openai-wire.ts';
import { streamed, type Said, type Wire } from '../wires/wire.ts';
import { defined } from '../../../language/defined.ts';

export const WIRES: readonly [string, Wire][] = [anthropicWire, openAiWire, ollamaWire].map((wire) => [
  wire.kind,
  wire,
]);

/** One server for a file's tests. */
export function useDouble(): () => Double {
  let double: Double | undefined;
  beforeAll(async () => {
    double = await new Double().open();
  });
  afterAll(async () => double?.close());
  return () => {
    if (double === undefined) throw new Error('the double is not open yet');
    return double;
  };
}

export interface TurnParts {
  request?: Partial<TurnRequest>;
  facts?: Partial<ModelFacts>;
  limits?: Partial<TurnLimits>;
  signal?: AbortSignal;
  onDelta?: (delta: Delta) => void;
  tape?: TurnTape;
}

export const HELLO: TurnRequest['messages'] = [{ role: 'user', blocks: [{ type: 'text', text: 'Hello?' }] }];

export function turn(wire: Wire, double: Pick<Double, 'url'>, parts: TurnParts = {}): Promise<TurnResult> {
  const { request, facts, limits, signal = new AbortController().signal, onDelta, tape } = parts;
  return takeTurn(
    wire.open(double.url),
    { model: wire.model, messages: HELLO, ...request },
    { ...factsOf(wire.kind, wire.model), ...facts },
    {
      signal,
      limits: { headersMs: 5000, idleMs: 5000, ...limits },
      ...defined({ onDelta, tape }),
    },
  );
}

export async function replyOf(result: Promise<TurnResult>): Promise<TurnReply> {
  const settled = await result;
  if (!settled.ok) throw new Error(`the turn failed: ${JSON.stringify(settled.failure)}`);
  return settled.reply;
}

export async function failureOf(result: Promise<TurnResult>): Promise<TurnFailure> {
  const settled = await result;
  expect(settled.ok ? settled.reply : null).toBe(null);
  if (settled.ok) throw new Error('the turn did not fail');
  return settled.failure;
}

export const say = (wire: Wire, said: Partial<Said> = {}): ReturnType<typeof streamed> =>
  streamed(wire, wire.events({ parts: [{ text: ['Hello', ' there.'] }], reason: wire.reasons.end, ...said }));

export const TOOLS = [
  {
    name: 'code/write',
    description: 'Writes a file.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
  },
  {
    name: 'code/read',
    description: 'Reads a file.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
  },
];
