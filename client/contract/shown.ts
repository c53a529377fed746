/** What the store keeps, as the doors show it. */
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
export type { Trigger, TriggerStart } from '../../prisma/store/contract/trigger-contract.ts';
