/** What a command that `uses` models has spent on them: its run counts it, whatever the command makes of the answers. */
import { findCommand } from '../../language/catalogue.ts';
import type { Registry } from '../../operations/registry.ts';
import type { CommandContext } from '../../operations/command.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { tokensOf } from '../../language/models/token-usage.ts';
import { Failure } from '../../world/failures/failures.ts';

export const usesModels = ({ catalogue }: Pick<Registry, 'catalogue'>, name: string): boolean =>
  findCommand(catalogue, name)?.uses?.models === true;

export class Spent {
  readonly #ask: CommandContext['turn'];
  #tokens = 0;
  #usd = 0;

  constructor(ask: CommandContext['turn']) {
    this.#ask = ask;
  }

  readonly turn: CommandContext['turn'] = async (request, until) => {
    try {
      const outcome = await this.#ask(request, until);
      this.#add(tokensOf(outcome.usage), outcome.usd);
      return outcome;
    } catch (error) {
      const spent = error instanceof Failure ? error.details?.['spent'] : undefined;
      if (isJsonObject(spent)) this.#add(spent['tokens'], spent['usd']);
      throw error;
    }
  };

  get usage(): JsonObject {
    return { tokens: this.#tokens, usd: this.#usd };
  }

  beside(value: Json): JsonObject {
    return { value, usage: this.usage };
  }

  /** The same failure, with all that was spent before it. */
  in(error: unknown): unknown {
    if (!(error instanceof Failure)) return error;
    const { code, message, retryable, details } = error;
    return new Failure(code, message, { retryable, details: { ...details, spent: this.usage }, cause: error });
  }

  #add(tokens: unknown, usd: unknown): void {
    this.#tokens += counted(tokens);
    this.#usd += counted(usd);
  }
}

const counted = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);
