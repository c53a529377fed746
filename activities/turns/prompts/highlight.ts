/** Told of the tools that a definition points out: they come first, and the others stay. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const highlight: Prompt<{ tools: readonly string[] }> = {
  name: 'highlight',
  version: 1,
  render: ({ tools }) =>
    `For this work, look to these tools first: ${tools.join(', ')}. All the other tools that you have may be used as well.`,
};
