/** `defaults` and `concurrency`: their keys and words in other spellings; a text is the name of a group. */
import { standIn, within, type Draft, isPlain, type Origins } from '../draft/draft.ts';
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

/**
 * The `defaults` of a definition reach what is written inside it, and no definition in a file of its own: every file that is read inside a definition with defaults, and has none, gets those that hold without any.
 */
export function ownDefaults(root: unknown, origins: Origins): void {
  const pending: { value: unknown; isInside: boolean }[] = [{ value: root, isInside: false }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value } = next;
    if (Array.isArray(value)) pending.push(...value.map((inner) => ({ value: inner, isInside: next.isInside })));
    if (!isPlain(value)) continue;
    const isFile = origins.mounts.isRoot(origins.locate(value, '', []));
    if (isFile && next.isInside && !hasDefaults(value)) value['defaults'] = { shell: { failOn: 'never' } };
    const isInside = next.isInside || hasDefaults(value);
    for (const inner of Object.values(value)) pending.push({ value: inner, isInside });
  }
}

const hasDefaults = ({ defaults }: { [key: string]: unknown }): boolean =>
  isPlain(defaults) && isPlain(defaults['shell']) && typeof defaults['shell']['failOn'] === 'string';
