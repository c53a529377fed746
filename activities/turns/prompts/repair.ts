/** Said after an answer that did not fit the schema of its step. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const repair: Prompt<{ fault: string }> = {
  name: 'repair',
  version: 1,
  render: ({ fault }) =>
    `Your answer does not fit the form that was asked for: ${fault}. Answer again with the whole answer as JSON of that form, and nothing else.`,
};
