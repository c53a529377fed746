/** The nine states of a cognitive cycle, and the 18 edges between them: the whole of what may follow what. */

export const STATES = [
  'IDLE',
  'CURATING_CONTEXT',
  'AWAITING_CONTEXT_APPROVAL',
  'PLANNING_WITH_CONTEXT',
  'GENERATING_PROPOSAL',
  'AWAITING_PROPOSAL_APPROVAL',
  'APPLYING_CHANGESET',
  'REFLECTING',
  'ERROR',
] as const;

export type State = (typeof STATES)[number];

export const TABLE: { readonly [from in State]: readonly State[] } = {
  IDLE: ['CURATING_CONTEXT'],
  CURATING_CONTEXT: ['AWAITING_CONTEXT_APPROVAL', 'ERROR'],
  AWAITING_CONTEXT_APPROVAL: ['PLANNING_WITH_CONTEXT', 'CURATING_CONTEXT', 'IDLE'],
  PLANNING_WITH_CONTEXT: ['GENERATING_PROPOSAL', 'ERROR'],
  GENERATING_PROPOSAL: ['AWAITING_PROPOSAL_APPROVAL', 'ERROR'],
  AWAITING_PROPOSAL_APPROVAL: ['APPLYING_CHANGESET', 'PLANNING_WITH_CONTEXT', 'IDLE'],
  APPLYING_CHANGESET: ['REFLECTING', 'ERROR'],
  REFLECTING: ['IDLE', 'CURATING_CONTEXT'],
  ERROR: ['IDLE'],
};

export const isEdge = (from: State, to: State): boolean => TABLE[from].includes(to);

/** The edges from a state to IDLE: straight, or by ERROR. */
export function wayHome(from: State): State[] {
  if (from === 'IDLE') return [];
  return isEdge(from, 'IDLE') ? ['IDLE'] : ['ERROR', 'IDLE'];
}
