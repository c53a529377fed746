/** What the store keeps, as the doors show it. */
import type { InboxItem } from '../../prisma/store/contract/contract.ts';

export type {
  Run,
  RunQuery,
  InboxItem,
  LogLine,
  LogQuery,
  StoredDefinition,
} from '../../prisma/store/contract/contract.ts';
export type { KeptEvent, KeptQuery } from '../../prisma/store/contract/event-contract.ts';
export { INCIDENT_KINDS, type Incident, type IncidentKind } from '../../prisma/store/contract/incident-contract.ts';
export type { LeaseName, PlaceInLease } from '../../prisma/store/contract/lease-contract.ts';
export type { CircuitState } from '../../prisma/store/contract/models/limit-contract.ts';
export { COST_GROUPS, type CostGroup, type CostSum } from '../../prisma/store/contract/models/spending-contract.ts';
export type { Seeker } from '../../prisma/store/contract/sentinel-contract.ts';
export type { Trigger, TriggerStart } from '../../prisma/store/contract/trigger-contract.ts';

/** Of the inbox: what a run asks or tells. */
export interface AskedItem extends InboxItem {
  itemId: string;
  by: null;
}

/** And what somebody has posted. */
export interface PostedItem extends Pick<InboxItem, 'persona' | 'message' | 'priority' | 'show' | 'askedAt'> {
  itemId: string;
  kind: 'task' | 'question' | 'notice' | 'completion';
  domain: string | null;
  /** Who posted it; `handle`: the run that did, null for a person. */
  by: string;
  handle: string | null;
  state: 'open' | 'taken' | 'done' | 'dropped';
  /** The run that has it, or the person. */
  takenBy: string | null;
}

export type ListedItem = AskedItem | PostedItem;
