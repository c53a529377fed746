/** What a run says to the runs nested in it. */
import { uuid4 } from '@temporalio/workflow';
import { SIGNALS, type Messages } from '../messages/messages.ts';
import type { SentMessage } from '../messages/sent-message.ts';

export type ControlWord = readonly [...Parameters<Messages['control']>];

export const controlMessage = (...args: ControlWord): SentMessage => ({
  to: SIGNALS.control,
  id: uuid4(),
  at: Date.now(),
  args,
});
