/** The chunks of a chat completion, into an answer of ours. */
import type OpenAI from 'openai';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Assembler, Ending } from '../answer/assembler.ts';
import { truncated } from '../http/call.ts';
import { TurnError } from '../port/turn-failure.ts';
import type { WireNames } from '../request/wire-names.ts';
import { CallPieces, type CallDelta } from './call-pieces.ts';
import type { Guard } from '../http/guard.ts';
import { objectOf, textOf } from '../http/fields.ts';
import type { StopReason, TurnReply } from '../port/turn.ts';

const REASONS: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  length: 'max-tokens',
  model_length: 'window-full',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'refusal',
};
/** The server broke its answer off, and says so in the place of a reason. */
const BROKEN: ReadonlySet<string> = new Set(['error', 'abort', 'aborted', 'insufficient_system_resource']);

/** The first of them that holds text is the thought; some servers send two. */
const THOUGHTS = ['reasoning', 'reasoning_content', 'reasoning_text'];

export async function readChunks(
  chunks: AsyncIterable<OpenAI.Chat.ChatCompletionChunk>,
  assembler: Assembler,
  asked: { name: string; model: string; names: WireNames; guard: Pick<Guard, 'requestId' | 'keep'> },
): Promise<Omit<TurnReply, 'author' | 'omitted'>> {
  let { model } = asked;
  let reason: StopReason | null = null;
  let usage: Ending['usage'] = null;
  const pieces = new CallPieces(asked.names);
  for await (const chunk of chunks) {
    if (typeof chunk.model === 'string' && chunk.model !== '') model = chunk.model;
    // Some send it with every chunk: the last one counts them all.
    usage = usageIn(chunk as unknown as JsonObject) ?? usage;
    assembler.heard(usage);
    const choice = chunk.choices?.[0] as unknown as JsonObject | undefined;
    if (choice === undefined) continue;
    const delta = deltaOf(choice);
    readSaid(delta, assembler);
    for (const call of callsIn(delta)) {
      const piece = pieces.place(call);
      if (piece !== null) assembler.call(piece.key, piece);
    }
    const finish = textOf(choice['finish_reason']);
    if (BROKEN.has(finish)) throw broken(asked.name, finish);
    if (finish !== '') reason = REASONS[finish] ?? 'end';
    if (textOf(delta['refusal']) !== '') reason = 'refusal';
  }
  if (reason === null) throw truncated(asked.name);
  await asked.guard.keep();
  return assembler.finish({ reason, usage, model, requestId: asked.guard.requestId });
}

/** A completion that was not streamed is one chunk. */
export const completionEvents = (answer: JsonObject): JsonObject[] | null =>
  Array.isArray(answer['choices']) ? [answer] : null;

/** An answer that did not come in pieces is one piece. */
const deltaOf = ({ delta, message }: JsonObject): JsonObject => objectOf(delta ?? message ?? null);

function readSaid(delta: JsonObject, assembler: Assembler): void {
  const content = partsOf(delta['content'] ?? null);
  const thought = [...THOUGHTS.map((name) => textOf(delta[name])), content.thought].find((piece) => piece !== '');
  if (thought !== undefined) assembler.thinking('thinking', thought);
  const said = content.text + textOf(delta['refusal']);
  if (said !== '') assembler.text('text', said);
}

/** A text; or parts, some of which are thought. */
function partsOf(content: Json): { text: string; thought: string } {
  if (!Array.isArray(content)) return { text: textOf(content), thought: '' };
  const parts = content.map(objectOf);
  const text = parts.map((part) => (part['type'] === 'text' ? textOf(part['text']) : '')).join('');
  const thought = parts.map((part) => {
    const inner = part['type'] === 'thinking' ? (part['thinking'] ?? null) : null;
    return partsOf(inner).text;
  });
  return { text, thought: thought.join('') };
}

/** Older servers have one call at most, under a name of its own. */
function callsIn({ tool_calls: calls, function_call: only }: JsonObject): CallDelta[] {
  if (Array.isArray(calls) && calls.length > 0) return calls.map((call) => objectOf(call) as CallDelta);
  return only === undefined || only === null ? [] : [{ function: objectOf(only) }];
}

const broken = (name: string, finish: string): TurnError =>
  new TurnError(
    { kind: 'overloaded', retryAfterMs: null },
    `${name} broke its answer off ("${finish}"); nothing of it is used`,
  );

/** One server says it in a field of its own. */
const usageIn = (chunk: JsonObject): Ending['usage'] =>
  usageOf(chunk['usage']) ?? usageOf(objectOf(chunk['x_groq'])['usage']);

function usageOf(usage: Json | undefined): Ending['usage'] {
  const said = objectOf(usage);
  // Servers that count at the end send zeros before.
  if (!said['prompt_tokens'] && !said['completion_tokens']) return null;
  return {
    input: said['prompt_tokens'],
    output: said['completion_tokens'],
    cacheRead: objectOf(said['prompt_tokens_details'])['cached_tokens'],
    isCacheInInput: true,
    thinking: objectOf(said['completion_tokens_details'])['reasoning_tokens'],
  };
}
