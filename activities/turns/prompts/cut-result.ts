/** Stands in the middle of a result that is too long to be told whole. */
import type { Prompt } from './prompt.ts';

export const cutResult: Prompt<{ left: number; whole: number }> = {
  name: 'cut-result',
  version: 1,
  render: ({ left, whole }) => `[… ${left} of ${whole} characters are left out here; ask for less to see them …]`,
};
