/** Stands in the place of turns that were left out without a summary. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const leftOut: Prompt<{ turns: number; said: readonly string[] }> = {
  name: 'left-out',
  version: 1,
  render: ({ turns, said }) =>
    [
      `[The conversation had grown too long. ${turns === 1 ? 'Its first turn is' : `Its first ${turns} turns are`} left out here, with what was called in them and what came of it.]`,
      ...(said.length === 0 ? [] : ['What you were told in them:', ...said.map((text) => `- ${text}`)]),
    ].join('\n'),
};
