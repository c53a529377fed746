/** Rows that were made, each question once, and what was left out, by reason. */
import { defined } from '../../../language/defined.ts';
import type { JsonObject } from '../../../language/json.ts';
import { type Fact, normal } from './facts.ts';
import type { KeptOut } from './kept-out.ts';

export const CHECKS = ['key', 'execution'] as const;
export type Check = (typeof CHECKS)[number];

/** `madeBy`: who has worded the question. Of a model's row with the check "key", the answer is the generator's. */
export type Origin = { madeBy: 'model' | 'generator'; model: string | null; checked: Check[] };

export interface MadeRow extends Fact {
  origin: Origin;
}

export type Dropped = {
  /** The question is there. */
  duplicates: number;
  /** The same question was answered in two ways, and neither stays. */
  contradicted: number;
  /** A check has found the answer wrong. */
  wrong: number;
  /** A gate asks it, or asks about its fact. */
  heldOut: number;
  /** It has no question, or no answer. */
  empty: number;
};

export class MadeRows {
  readonly #keptOut: KeptOut;
  readonly #rows = new Map<string, MadeRow | null>();
  readonly dropped: Dropped = { duplicates: 0, contradicted: 0, wrong: 0, heldOut: 0, empty: 0 };

  constructor(keptOut: KeptOut) {
    this.#keptOut = keptOut;
  }

  get rows(): MadeRow[] {
    return [...this.#rows.values()].filter((row) => row !== null);
  }

  get questions(): string[] {
    return this.rows.map(({ question }) => question);
  }

  /** Of what is given, whatever is about a fact that a gate asks about, wherever in the list that is seen. */
  keepOutOf(given: readonly Fact[]): void {
    for (let [left, before] = [[...given], Infinity]; left.length < before;) {
      before = left.length;
      const held = left.filter((one) => !this.isTaught(one));
      left = left.filter((one) => this.isTaught(one));
      for (const one of held) this.#keptOut.add(one);
    }
  }

  /** Whether no gate asks it, or about its fact, as far as is known by now. */
  isTaught(one: Pick<Fact, 'question' | 'fact'>): boolean {
    return !this.#keptOut.holds(one);
  }

  /** Those of one fact that may be taught: none of them, and nothing more about the fact, where a gate asks one of them. */
  fit(rows: readonly MadeRow[]): MadeRow[] {
    const said = rows.filter(({ question, answer }) => normal(question) !== '' && answer.trim() !== '');
    this.dropped.empty += rows.length - said.length;
    if (said.every((row) => !this.#keptOut.holds(row))) return said;
    this.dropped.heldOut += said.length;
    for (const row of said) this.#keepOut(row);
    return [];
  }

  #keepOut(row: MadeRow): void {
    this.#keptOut.add(row);
    for (const [key, one] of this.#rows) {
      if (one === null || !this.#keptOut.holds(one)) continue;
      this.#rows.delete(key);
      this.dropped.heldOut += 1;
    }
  }

  /** What a question is about that is there. */
  factOf(question: string): string | undefined {
    return this.#rows.get(normal(question))?.fact;
  }

  /** Whether the question is new. */
  isNew({ question }: Pick<MadeRow, 'question'>): boolean {
    return !this.#rows.has(normal(question));
  }

  /** Those whose question is there are counted, and one of another answer takes it away. */
  add(row: MadeRow): void {
    const key = normal(row.question);
    const before = this.#rows.get(key);
    if (before === undefined) this.#rows.set(key, row);
    else if (before === null) this.dropped.contradicted += 1;
    else if (normal(before.answer) === normal(row.answer)) this.dropped.duplicates += 1;
    // What is known to be right is not taken away by what a model says.
    else if (before.origin.madeBy === 'generator') this.dropped.wrong += 1;
    else {
      this.dropped.contradicted += 2;
      this.#rows.set(key, null);
    }
  }
}

export const lineOf = ({ question, answer, fact, origin }: MadeRow, domain: string | undefined): JsonObject => ({
  prompt: question,
  completion: answer,
  fact,
  ...defined({ domain }),
  origin,
});
