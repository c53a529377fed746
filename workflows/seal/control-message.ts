/** What a run says to the runs nested in it, and to the run around it. */
import { uuid4 } from '@temporalio/workflow';
import { SIGNALS, type Messages } from '../messages/messages.ts';
import type { SentMessage } from '../messages/sent-message.ts';

export type ControlWord = readonly [...Parameters<Messages['control']>];
export type NestedWord = readonly [...Parameters<Messages['nested']>];

const messageTo = (to: string, args: readonly unknown[]): SentMessage => ({ to, id: uuid4(), at: Date.now(), args });

export const controlMessage = (...args: ControlWord): SentMessage => messageTo(SIGNALS.control, args);
export const nestedMessage = (...args: NestedWord): SentMessage => messageTo(SIGNALS.nested, args);
