/** The lines of an answer of Ollama, into an answer of ours. */
import type { ChatResponse } from 'ollama';
import type { JsonObject } from '../../../language/json.ts';
import type { Assembler, Ending } from '../answer/assembler.ts';
import { truncated } from '../http/call.ts';
import type { Guard } from '../http/guard.ts';
import { TurnError } from '../port/turn-failure.ts';
import type { StopReason, TurnReply } from '../port/turn.ts';

const REASONS: Readonly<Record<string, StopReason>> = { stop: 'end', length: 'max-tokens' };

export async function readLines(
  lines: AsyncIterable<ChatResponse>,
  assembler: Assembler,
  asked: { name: string; model: string; hasTools: boolean; guard: Pick<Guard, 'requestId' | 'keep'> },
): Promise<Omit<TurnReply, 'author' | 'omitted'>> {
  let last: ChatResponse | null = null;
  let calls = 0;
  for await (const line of lines) {
    assembler.heard(null);
    const { content, thinking, tool_calls: called } = line.message ?? {};
    if (typeof thinking === 'string' && thinking !== '') assembler.thinking('thinking', thinking);
    if (typeof content === 'string' && content !== '') assembler.text('text', content);
    for (const call of called ?? []) {
      calls += 1;
      const { id, function: given } = call as {
        id?: string;
        function: { name: string; arguments: JsonObject | string };
      };
      assembler.call(`call ${calls}`, { id, name: given.name, arguments: given.arguments });
    }
    if (line.done) last = line;
  }
  if (last === null) throw truncated(asked.name);
  const isEmpty = assembler.isSilent && (asked.hasTools || last.done_reason === 'load');
  if (isEmpty && last.done_reason !== 'length') throw lostCall(asked);
  await asked.guard.keep();
  return assembler.finish({
    reason: REASONS[last.done_reason] ?? 'end',
    usage: usageOf(last),
    model: last.model === '' || last.model === undefined ? asked.model : last.model,
    requestId: asked.guard.requestId,
  });
}

/** The server drops a call of an unknown tool, or one that it cannot read, and answers with nothing. */
const lostCall = ({ name, model }: { name: string; model: string }): TurnError =>
  new TurnError(
    { kind: 'malformed-answer' },
    `${name}/${model}: the answer is empty, so the server dropped a call that it could not read; try again, or offer fewer tools`,
  );

function usageOf(last: ChatResponse): Ending['usage'] {
  const { prompt_eval_count: input, eval_count: output } = last;
  // What it had computed before it does not count, so that nothing is known of what was sent.
  return input === undefined || input === 0 ? null : { input, output };
}
