import type { RunContext } from '../prisma/store/contract/contract.ts';

/** Who calls a command: a step of a run, a person at the command line, an agent over MCP, a follower of events, or the background. */
export type Caller =
  | { kind: 'step'; handle: string; persona: string; byModel: boolean }
  | { kind: 'person'; name: string }
  /** By the name of its program. */
  | { kind: 'agent'; name: string }
  /** `name`: of the system and its follower. */
  | { kind: 'follower'; name: string }
  /** What a system does again and again; `name`: of the system and its task. */
  | { kind: 'background'; name: string };

/** Stands for the run where a person does something: the same name that events of persons have (language/events/published-event.ts). */
export const PERSONS_HANDLE = '@emit';
/** And where a follower of events does. */
export const FOLLOWERS_HANDLE = '@follow';
/** And where a system does something again and again. */
export const BACKGROUND_HANDLE = '@background';

/** Before the handles of runs that do so, which nobody gives to others: the system, its task and a number follow. */
const BACKGROUND_RUNS = 'background:';

export const backgroundRun = (system: string, task: string, number: number): string =>
  `${BACKGROUND_RUNS}${system}:${task}:${number}`;

export const isBackgroundRun = (handle: string): boolean => handle.startsWith(BACKGROUND_RUNS);

/** By whom the steps of a run call. */
export function callerOf({ handle, persona }: RunContext, byModel: boolean): Caller {
  if (!isBackgroundRun(handle)) return { kind: 'step', handle, persona, byModel };
  const [, system = '', task = ''] = handle.split(':');
  return { kind: 'background', name: `${system}/${task}` };
}

/** Through which a command is called. */
export type Door = 'step' | 'model' | 'person' | 'agent' | 'follower' | 'background';

export const doorOf = (caller: Caller): Door => (caller.kind === 'step' && caller.byModel ? 'model' : caller.kind);

type Calling = { caller: Caller; run: Pick<RunContext, 'persona' | 'project'> };

/** A model has to do with its own project, and with what belongs to none; null: whoever else calls reaches all. */
export const projectOfModel = ({ caller, run }: Calling): string | null =>
  caller.kind === 'step' && caller.byModel ? run.project : null;

/** The persona of the run, or who calls outside of one. */
export const personaOfCaller = ({ caller, run }: Calling): string =>
  caller.kind === 'step' ? run.persona : caller.name;
