/** Messages about runs that wait to be sent. */
import type { Session } from './session-contract.ts';

export type NoticeKind = 'failed' | 'stopped' | 'asked' | 'reminded' | 'stuck';

/** Of an event of a run. */
export interface Notice {
  handle: string;
  seq: number;
  kind: NoticeKind;
  at: number;
}

export interface NewDelivery {
  /** The same id is one message, however often it is made. */
  id: string;
  handle: string;
  event: NoticeKind;
  url: string;
  body: string;
}

export interface Delivery extends NewDelivery {
  attempts: number;
  madeAt: number;
}

export interface NotificationStore {
  /** Within a session, in which the events that they tell of are done with. */
  write(session: Session, project: string, deliveries: readonly NewDelivery[]): Promise<void>;
  /** Messages that are due now; nobody else gets them for the time of the lease. */
  claim(project: string, limit: number, leaseMs: number): Promise<Delivery[]>;
  sent(id: string): Promise<void>;
  /** Tried again after that time; with null it is given up. */
  failed(id: string, finding: string, againMs: number | null): Promise<void>;
  /** How many messages of the last week were given up, with the last finding. */
  givenUp(): Promise<{ count: number; finding: string | null; url: string | null }>;
  /** Removes what was sent or given up a week ago. */
  sweep(): Promise<void>;
}
