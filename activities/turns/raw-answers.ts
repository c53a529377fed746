/** What a turn's requests were answered, kept and charged before it is read; and who of its attempts pays. */
import { createHash } from 'node:crypto';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { SpendingOf } from '../../prisma/store/contract/models/spending-contract.ts';
import type { TokenUsage } from '../../language/models/token-usage.ts';
import type { TurnTape } from '../../world/models/port/turn.ts';
import { costOf } from '../../world/models/records/facts.ts';
import type { AnsweringModel, ModelRequest } from './cassettes/answering.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export class TurnTapes {
  readonly #store: Pick<Store, 'rawAnswers' | 'spending'>;
  readonly #of: SpendingOf;
  readonly #asker: string;
  /** Nobody asked before, so there is nothing to find. */
  #isFirst: boolean;
  /** The attempt in whose row the cost stands. */
  payer: string;

  constructor(
    store: Pick<Store, 'rawAnswers' | 'spending'>,
    of: SpendingOf,
    { asker, isFirst }: { asker: string; isFirst: boolean },
  ) {
    this.#store = store;
    this.#of = of;
    this.#asker = asker;
    this.#isFirst = isFirst;
    this.payer = of.attempt;
  }

  async of({ name, facts }: AnsweringModel, request: ModelRequest): Promise<TurnTape> {
    const digest = createHash('sha256')
      .update(JSON.stringify([name, request]))
      .digest('hex');
    const of = { ...this.#of, asker: this.#asker, request: digest };
    const kept = this.#isFirst ? null : await this.#store.rawAnswers.find(of);
    if (kept !== null && kept.attempt !== this.payer) {
      // This attempt asks nobody.
      await this.#store.spending.withdraw({ ...this.#of, attempt: this.payer });
      this.payer = kept.attempt;
    }
    return {
      kept,
      keep: async (answer, tokens: TokenUsage) => {
        this.#isFirst = false;
        await this.#store.rawAnswers.keep(of, answer, { model: name, tokens, usd: costOf(tokens, facts.prices) });
        crashPoint('turn.taped', { handle: of.handle, key: of.asker });
      },
    };
  }
}
