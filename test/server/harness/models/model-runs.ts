/**
 * Runs of a model step whose model is a double at the wire: it answers by what it is asked, so that many runs
 * can ask it at once, and asking the same again gets the same. It counts what is paid, turn by turn.
 */
import { Double, type Reply } from '../../../models/wires/double.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';
import { streamed } from '../../../models/wires/wire.ts';

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

export class ScriptedModel {
  readonly double = new Double();
  /** How often each turn was asked for, by conversation. */
  readonly paid = new Map<string, number[]>();

  async open(reply: (asked: Asked) => Reply): Promise<this> {
    await this.double.open();
    // What a worker asks about the model is no turn.
    for (const path of ['/v1/models', '/props']) this.double.route(path, { status: 404, pieces: ['{}'] });
    this.double.answer(wire.path, (body) => {
      const messages = wire.messages(body);
      const name = (messages.find(({ role }) => role === 'user')?.texts.join('') ?? '').split(' ')[0] ?? '';
      const turn = messages.filter(({ role }) => role === 'assistant').length + 1;
      const counts = this.paid.get(name) ?? [];
      counts[turn - 1] = (counts[turn - 1] ?? 0) + 1;
      this.paid.set(name, counts);
      return reply({ name, turn });
    });
    return this;
  }

  close(): Promise<void> {
    return this.double.close();
  }

  get environment(): NodeJS.ProcessEnv {
    return { OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: `${this.double.url}/v1` };
  }
}
