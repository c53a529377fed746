/** The chunks of a chat completion, into an answer of ours. */
import type OpenAI from 'openai';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Assembler, Ending } from '../answer/assembler.ts';
import { truncated } from '../http/call.ts';
import type { Guard } from '../http/guard.ts';
import { objectOf, textOf } from '../http/fields.ts';
import type { StopReason, TurnReply } from '../port/turn.ts';

const REASONS: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  length: 'max-tokens',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'refusal',
};

/** The first of them that holds text is the thought; some servers send two. */
const THOUGHTS = ['reasoning', 'reasoning_content', 'reasoning_text'];

export async function readChunks(
  chunks: AsyncIterable<OpenAI.Chat.ChatCompletionChunk>,
  assembler: Assembler,
  asked: { name: string; model: string; guard: Pick<Guard, 'requestId' | 'keep'> },
): Promise<Omit<TurnReply, 'author' | 'omitted'>> {
  let { model } = asked;
  let reason: StopReason | null = null;
  let usage: Ending['usage'] = null;
  const keyOf = callKeys();
  for await (const chunk of chunks) {
    if (typeof chunk.model === 'string' && chunk.model !== '') model = chunk.model;
    // Some send it with every chunk: the last one counts them all.
    usage = usageOf(chunk.usage as unknown as Json) ?? usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined) continue;
    const delta = (choice.delta ?? {}) as unknown as JsonObject;
    const thought = THOUGHTS.map((name) => textOf(delta[name])).find((piece) => piece !== '');
    if (thought !== undefined) assembler.thinking('thinking', thought);
    const said = textOf(delta['content']) + textOf(delta['refusal']);
    if (said !== '') assembler.text('text', said);
    for (const call of choice.delta?.tool_calls ?? [])
      assembler.call(keyOf(call), {
        id: call.id,
        name: call.function?.name,
        arguments: call.function?.arguments,
      });
    if (typeof choice.finish_reason === 'string') reason = REASONS[choice.finish_reason] ?? 'end';
    if (textOf(delta['refusal']) !== '') reason = 'refusal';
  }
  if (reason === null) throw truncated(asked.name);
  await asked.guard.keep();
  return assembler.finish({ reason, usage, model, requestId: asked.guard.requestId });
}

type CallDelta = OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall;

/** To which call a piece belongs: by its id, else by its index, else it is of the call under way. */
function callKeys(): (delta: CallDelta) => string {
  const byId = new Map<string, string>();
  const byIndex = new Map<number, string>();
  const withId = new Set<string>();
  let current: string | undefined;
  let count = 0;
  const begin = (): string => {
    count += 1;
    return `call ${count}`;
  };
  return ({ id, index, function: called }) => {
    const given = id ?? '';
    const at = typeof index === 'number' ? byIndex.get(index) : undefined;
    const find = (): string => {
      // A new id under an old index is a new call, since some servers count nothing; unless that one has none yet.
      if (given !== '') return byId.get(given) ?? (at === undefined || withId.has(at) ? begin() : at);
      if (typeof index === 'number') return at ?? begin();
      return current === undefined || (called?.name ?? '') !== '' ? begin() : current;
    };
    const key = find();
    if (given !== '') {
      byId.set(given, key);
      withId.add(key);
    }
    if (typeof index === 'number') byIndex.set(index, key);
    current = key;
    return key;
  };
}

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
