/** Stands in the place of turns that were summed up. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const summarized: Prompt<{ turns: number; summary: string }> = {
  name: 'summarized',
  version: 1,
  render: ({ turns, summary }) =>
    `[The conversation had grown too long. ${turns === 1 ? 'Its first turn is' : `Its first ${turns} turns are`} left out here; this summary of yours stands in their place. Go on from it.]\n\n${summary}`,
};
