/** What is asked later and never taught: the questions and facts of gates. */
import type { Context } from '../../../operations/command.ts';
import { type Fact, factsIn, factsOfFile, loose, normal } from './facts.ts';

export class KeptOut {
  readonly #questions = new Set<string>();
  readonly #facts = new Set<string>();

  add({ question, fact }: Fact): void {
    this.#questions.add(loose(question));
    this.#facts.add(normal(fact));
  }

  holds({ question, fact }: Pick<Fact, 'question' | 'fact'>): boolean {
    return this.#questions.has(loose(question)) || this.#facts.has(normal(fact));
  }
}

/** `named`: files and data sets, as somebody calls them. `files`: of adapters that were trained. */
export async function keptOut(
  { named, files }: { named: readonly string[]; files: readonly string[] },
  context: Context,
): Promise<KeptOut> {
  const out = new KeptOut();
  for (const path of named) for (const fact of await factsIn(path, 'gate', context)) out.add(fact);
  for (const file of files) for (const fact of await factsOfFile(file, file)) out.add(fact);
  return out;
}
