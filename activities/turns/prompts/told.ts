/** Said by a person while the step was under way: their own words, and nothing of ours. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const told: Prompt<{ text: string }> = {
  name: 'told',
  version: 1,
  render: ({ text }) => text,
};
