/** Said before the turn that is to be the last. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const answerNow: Prompt<{ finding: string; note?: string }> = {
  name: 'answer-now',
  version: 1,
  render: ({ finding, note }) =>
    [
      `Stop here: ${finding}. Call nothing any more. Give your answer now, with what you have, and say what is missing.`,
      ...(note === undefined ? [] : [`A person who looked at it says: ${note}`]),
    ].join('\n'),
};
