/** Who calls a command: a step of a run, a person through a door (the command line, an editor, a program of theirs), or a follower of events. */
export type Caller =
  | { kind: 'step'; handle: string; persona: string; byModel: boolean }
  | { kind: 'person'; name: string }
  /** `name`: of the system and its follower. */
  | { kind: 'follower'; name: string };

/** Stands for the run where a person does something: the same name that events of persons have (language/events/published-event.ts). */
export const PERSONS_HANDLE = '@emit';
/** And where a follower of events does. */
export const FOLLOWERS_HANDLE = '@follow';
