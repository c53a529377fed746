/** `defaults`: its keys and words in other spellings. */
import { within, type Draft } from '../draft/draft.ts';
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
