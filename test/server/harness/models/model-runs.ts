/**
 * Runs of a model step whose model is a double at the wire: it answers by what it is asked, so that many runs
 * can ask it at once, and asking the same again gets the same. It counts what is paid, turn by turn.
 */
import type { JsonObject } from '../../../../language/json.ts';
import type { Reply } from '../../../models/wires/double.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';
import { streamed } from '../../../models/wires/wire.ts';
import { ModelDouble } from './model-double.ts';

export interface Call {
  id: string;
  name: string;
  input: object;
}

export const answers = (said: string): Reply =>
  streamed(wire, wire.events({ parts: [{ text: [said] }], reason: wire.reasons.end }));

export const calls = (...list: readonly Call[]): Reply =>
  streamed(
    wire,
    wire.events({
      parts: list.map(({ id, name, input }) => ({ call: { id, name, pieces: [JSON.stringify(input)] } })),
      reason: wire.reasons.calls,
    }),
  );

/** Which conversation, by the first word of its prompt, and which of its turns, from 1. */
interface Asked {
  name: string;
  turn: number;
}

export class ScriptedModel extends ModelDouble {
  /** How often each turn was asked for, by conversation. */
  readonly paid = new Map<string, number[]>();
  readonly #reply: (asked: Asked) => Reply;

  constructor(reply: (asked: Asked) => Reply) {
    super();
    this.#reply = reply;
  }

  override async open(): Promise<this> {
    await super.open();
    this.double.answer(wire.path, (body) => {
      const messages = wire.messages(body);
      const name = nameIn(body);
      const turn = messages.filter(({ role }) => role === 'assistant').length + 1;
      const counts = this.paid.get(name) ?? [];
      counts[turn - 1] = (counts[turn - 1] ?? 0) + 1;
      this.paid.set(name, counts);
      return this.#reply({ name, turn });
    });
    return this;
  }

  /** Bodies of the requests of one conversation. */
  turnsOf(name: string): JsonObject[] {
    return this.turns.filter((body) => nameIn(body) === name);
  }
}

function nameIn(body: JsonObject): string {
  const first = wire.messages(body).find(({ role }) => role === 'user');
  // What is known stands before the prompt.
  return (first?.texts.at(-1) ?? '').split(' ')[0] ?? '';
}
