/** A model at the wire that answers as a test says, and what a worker needs to ask it. */
import type { JsonObject } from '../../../../language/json.ts';
import { Double, type Reply } from '../../../models/wires/double.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';
import { streamed, type Sent } from '../../../models/wires/wire.ts';

export const MODEL = 'openai/some-model';

export class ModelDouble {
  readonly double = new Double();

  async open(): Promise<this> {
    await this.double.open();
    // What a worker asks about the model is no turn.
    for (const path of ['/v1/models', '/props']) this.double.route(path, { status: 404, pieces: ['{}'] });
    return this;
  }

  close(): Promise<void> {
    return this.double.close();
  }

  /** What a worker is started with. */
  get env(): Record<string, string> {
    return { OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: `${this.double.url}/v1` };
  }

  next(...replies: Reply[]): void {
    this.double.next(...replies);
  }

  /** Bodies of the turns that were asked for. */
  get turns(): JsonObject[] {
    return this.double.asked.filter(({ path }) => path === wire.path).map(({ body }) => body);
  }

  /** What the last of them held, message by message. */
  get last(): Sent[] {
    return wire.messages(this.turns.at(-1) ?? {});
  }
}

export const callsTo = (id: string, name: string, input: object): Reply =>
  streamed(
    wire,
    wire.events({
      parts: [{ call: { id, name, pieces: [JSON.stringify(input)] } }],
      reason: wire.reasons.calls,
      usage: { input: 100, output: 10 },
    }),
  );

export const says = (...pieces: string[]): Reply =>
  streamed(
    wire,
    wire.events({ parts: [{ text: pieces }], reason: wire.reasons.end, usage: { input: 100, output: 10 } }),
  );

/** It begins to say this, and no more comes. */
export const beginsToSay = (...pieces: string[]): Reply => {
  const events = wire.events({ parts: [{ text: pieces }], reason: wire.reasons.end });
  const first = events.slice(
    0,
    events.findIndex((event) => event.includes('"finish_reason":"')),
  );
  return { ...streamed(wire, first), then: 'silence' };
};
