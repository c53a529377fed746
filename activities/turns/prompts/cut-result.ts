/** Stands in the middle of a result that is too long to be told whole. */
import { cutWords } from '../../../language/models/shortened-text.ts';
import type { Prompt } from '../../../world/models/prompt.ts';

export const cutResult: Prompt<{ left: number; whole: number }> = {
  name: 'cut-result',
  version: 1,
  render: cutWords,
};
