/** Said to a model that turns in circles. */
import type { Prompt } from '../../../world/models/prompt.ts';

export const stuck: Prompt<{ finding: string; note?: string }> = {
  name: 'stuck',
  version: 1,
  render: ({ finding, note }) =>
    [
      `You seem to be turning in circles: ${finding}. Do not repeat what has not helped. Try something else, or, if you have what you need or cannot get further, answer now and say what is missing.`,
      ...(note === undefined ? [] : [`A person who looked at it says: ${note}`]),
    ].join('\n'),
};
