/** Remembers what a turn asks of models, and what came of it; whoever keeps the turn's answer keeps it, too. */
import type { JsonObject } from '../../../language/json.ts';
import type { AskedRequest } from '../../../prisma/store/contract/models/conversation-contract.ts';
import type { RequestHead } from '../../../world/models/cassette/request-form.ts';
import { TurnError } from '../../../world/models/port/turn-failure.ts';
import type { TurnResult } from '../../../world/models/port/turn.ts';
import { failureOf } from '../../../world/models/provider/take-turn.ts';
import type { Answerers, AnsweringModel, ModelRequest } from './answering.ts';

export class Recorder implements Answerers {
  readonly requests: AskedRequest[] = [];
  readonly #answerers: Answerers;

  constructor(answerers: Answerers) {
    this.#answerers = answerers;
  }

  async find(...[asked, needs, at]: Parameters<Answerers['find']>): ReturnType<Answerers['find']> {
    const found = await this.#answerers.find(asked, needs, at).catch((error: unknown) => {
      if (error instanceof TurnError)
        this.#add(asked, null, needs, { ok: false, failure: failureOf(error, '', asked) });
      throw error;
    });
    return {
      model: found.model,
      turn: async (request, options) => {
        const result = await found.turn(request, options);
        this.#add(asked, found.model, request, result);
        return result;
      },
    };
  }

  #add(asked: string, model: AnsweringModel | null, request: ModelRequest, result: TurnResult): void {
    const { messages, cache: _cache, ...settings } = request;
    const head: RequestHead = { asked, model, settings };
    this.requests.push({
      head: head as unknown as JsonObject,
      messages: messages as unknown as JsonObject[],
      outcome: (result.ok ? { reply: result.reply } : { failure: result.failure }) as unknown as JsonObject,
    });
  }
}
