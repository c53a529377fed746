/** Who calls a command: a step of a run, a person at the command line, an agent over MCP, or a follower of events. */
export type Caller =
  | { kind: 'step'; handle: string; persona: string; byModel: boolean }
  | { kind: 'person'; name: string }
  /** By the name of its program. */
  | { kind: 'agent'; name: string }
  /** `name`: of the system and its follower. */
  | { kind: 'follower'; name: string };

/** Stands for the run where a person does something: the same name that events of persons have (language/events/published-event.ts). */
export const PERSONS_HANDLE = '@emit';
/** And where a follower of events does. */
export const FOLLOWERS_HANDLE = '@follow';

/** Through which a command is called. */
export type Door = 'step' | 'model' | 'person' | 'agent' | 'follower';

export const doorOf = (caller: Caller): Door => (caller.kind === 'step' && caller.byModel ? 'model' : caller.kind);
