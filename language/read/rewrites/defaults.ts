/** `defaults` and `concurrency`: their keys and words in other spellings; a text is the name of a group. */
import { standIn, within, type Draft } from '../draft/draft.ts';
import { rewriteSpelling } from './spelling.ts';
import { rewriteWords } from './variants.ts';

export function rewriteDefaults(draft: Draft): void {
  within(draft, 'defaults', (defaults) =>
    within(defaults, 'shell', (shell) => {
      rewriteSpelling(shell);
      rewriteWords(shell);
    }),
  );
}

export function rewriteConcurrency(draft: Draft): void {
  const { concurrency } = draft.value;
  if (typeof concurrency === 'string' && concurrency.trim() !== '')
    standIn(draft, 'concurrency', { group: concurrency });
  within(draft, 'concurrency', (inner) => {
    rewriteSpelling(inner);
    rewriteWords(inner);
  });
}
