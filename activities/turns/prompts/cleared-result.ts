/** Stands in the place of a result that had to make room. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const clearedResult: Prompt<{ whole: number }> = {
  name: 'cleared-result',
  version: 1,
  render: ({ whole }) =>
    `[This result had ${whole} characters and is left out, because the conversation had grown too long. Call again if you still need it.]`,
};
