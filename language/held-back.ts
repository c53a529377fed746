/** What a limit of a tool, or the budget of a persona, fails a step with that has not begun: it waits, and is done then. */
export const HELD_BACK: ReadonlySet<string> = new Set(['RATE_LIMITED', 'PERSONA_BUDGET_SPENT']);
