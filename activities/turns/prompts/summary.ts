/** Asks a model to sum up a conversation that has grown too long; it stands behind the part that is summed up. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const summary: Prompt<{ words: number }> = {
  name: 'summary',
  version: 1,
  render: ({ words }) =>
    [
      'This conversation has grown too long to be continued as it is. Write a summary of it that will stand in its place. Whoever goes on has the task you were given at the beginning and your summary, and nothing else of what was said since.',
      'Write down, as far as there is any of it:',
      '1. what you were asked for since the beginning, word for word where a person said it;',
      '2. what was done, with the names of files, commands and identifiers exactly as they are;',
      '3. what was found out, with the values and error messages that still matter;',
      '4. what was tried and did not work, so that it is not tried again;',
      '5. what remains to be done, and what you were about to do next.',
      `Use at most ${words} words. Write the summary only: no call, and no answer to the task.`,
    ].join('\n'),
};
