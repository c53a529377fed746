/** Asks a model whether somebody is to answer at all, before an answer is paid for. */
import type { Prompt } from '../../world/models/prompt.ts';

export const shouldRespond: Prompt<{ who: string; about: string; strategy: string | null }> = {
  name: 'should-respond',
  version: 1,
  render: ({ who, about, strategy }) =>
    [
      `Decide whether "${who}" should respond to what follows. Respond where a question or a task is meant for them, or where they can add something that nobody has said; stay silent where others are spoken to, where it is answered, or where an answer would only be politeness.`,
      ...(strategy === null ? [] : [`How they take part: ${strategy}`]),
      `What was said:\n\n${about}`,
      'Answer with JSON and nothing else: {"shouldRespond": true or false, "confidence": 0 to 1, "reason": "one sentence"}',
    ].join('\n\n'),
};
