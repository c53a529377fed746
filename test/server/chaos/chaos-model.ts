/** The model of chaos: over the wire for workers, and the same answers for the scripted host. */
import type { JsonObject } from '../../../language/json.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed } from '../../models/wires/wire.ts';
import type { Double, Reply } from '../../models/wires/double.ts';
import { COLLECTION } from './chaos-definitions.ts';

/** What it calls in its first turn, where the prompt says so. */
function callIn(prompt: string): { name: string; input: JsonObject } | null {
  const [, row] = /Note row (\d+)/.exec(prompt) ?? [];
  if (row === undefined) return null;
  return { name: 'data/create', input: { collection: COLLECTION, data: { row: Number(row), noted: true } } };
}

/** Says nothing that could be taken for a prompt: later models are told of it. */
const answerTo = (prompt: string): string => `Told of ${/(?:Note row|Speak of) (\d+)/.exec(prompt)?.[1] ?? 'nothing'}`;

/** The value of a scripted turn, from 1. */
export function turnOf(prompt: string, turn: number): JsonObject {
  const call = turn === 1 ? callIn(prompt) : null;
  return call === null ? { text: answerTo(prompt), calls: [] } : { calls: [{ ...call }] };
}

/** Answers whatever is asked, for ever. */
export function answerAll(double: Double): void {
  for (const path of ['/v1/models', '/props']) double.route(path, { status: 404, pieces: ['{}'] });
  double.answer(wire.path, (body): Reply => {
    const messages = wire.messages(body);
    const prompt = messages.find(({ role }) => role === 'user')?.texts.join('') ?? '';
    const turn = messages.filter(({ role }) => role === 'assistant').length + 1;
    const call = turn === 1 ? callIn(prompt) : null;
    return streamed(
      wire,
      call === null
        ? wire.events({ parts: [{ text: [answerTo(prompt)] }], reason: wire.reasons.end })
        : wire.events({
            parts: [{ call: { id: 'one', name: 'data_create', pieces: [JSON.stringify(call.input)] } }],
            reason: wire.reasons.calls,
          }),
    );
  });
}
