/** Said after an answer that the model has to be surer of. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const selfCheck: Prompt<{ exit: number; hasForm: boolean }> = {
  name: 'self-check',
  version: 1,
  render: ({ exit, hasForm }) =>
    `Check your answer against what was asked, step by step: is every part of it right, and is anything missing? ${
      hasForm
        ? 'Then give the whole answer again in the same form, corrected where it needs to be, and nothing else.'
        : `If you are at least ${Math.round(exit * 100)} % sure that it is right and complete, answer with the one word CONFIRMED. Otherwise give the whole answer again, corrected, and nothing else.`
    }`,
};
