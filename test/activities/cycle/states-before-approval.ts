/** Through which a cycle goes before a changeset is approved. */
export const STATES_BEFORE_APPROVAL = [
  'AWAITING_CONTEXT_APPROVAL',
  'PLANNING_WITH_CONTEXT',
  'GENERATING_PROPOSAL',
  'AWAITING_PROPOSAL_APPROVAL',
] as const;
