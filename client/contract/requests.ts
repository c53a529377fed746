/** What a program asks a client for, and the replies: how it connects, and how a run is started, retried, answered, told and ended. */
import type { JsonObject } from '../../language/json.ts';
import type { SavedOrigin, ItemsAgain } from '../../language/events/run-event.ts';
import type { Definition } from '../../language/model.ts';
import type { StartChoices } from '../../language/policy/start-choices.ts';
import type { AnswerReply, AnswerRequest } from '../../interpreter/questions.ts';
import type { TellReply } from '../../interpreter/models/telling.ts';
import type { Settled } from '../../runs/settle-run.ts';
import type { Environment } from '../../services/config/config.ts';

/** How a run is started. */
export interface StartOptions extends StartChoices {
  /** Finds the definitions that `$ref`s name and that are not saved; `readDefinition` returns one for a file. */
  known?: (name: string) => Definition | undefined;
  /** Recorded with the run: the version of the saved definition that it was started from. */
  origin?: SavedOrigin;
  /** Whether the definition is saved under its name. Default: true without an `origin`. Inside a step it never is. */
  saves?: boolean;
  /** Recorded with the run. Default: `person`; inside a step it is `step`. */
  startedBy?: 'person' | 'agent';
}

export interface Started {
  handle: string;
  workflowId: string;
  /** The run in the Temporal Web UI; null if there is no Web UI. */
  webUrl: string | null;
}

/** How a run is retried. */
export interface RetryOptions {
  /** Items of a list to perform again: those that failed, or these, counted from 0. */
  items?: 'failed' | readonly number[];
  /** The key of the list's step, such as `steps.2@1`, if the run has several lists. */
  at?: string;
  /** Variables to change before the run begins. */
  set?: JsonObject;
  /** Continue with this definition; steps that are open at that point must keep their places. */
  definition?: Definition;
  /** Finds the definitions that `$ref`s of `definition` name and that are not saved. */
  known?: (name: string) => Definition | undefined;
  /** Of the new run. Default: the name of the definition and eight random characters. */
  handle?: string;
  /** Who the new run belongs to. Default: who the old one belongs to. */
  persona?: string;
  /** Run the steps on the workers of this host only. Default: where the old run ran. */
  host?: string;
  /** Rules that hold besides those of the old run. Throws `POLICY_INVALID`. */
  policy?: StartChoices['policy'];
  /** Recorded with the run. Default: `person`; inside a step it is `step`. */
  startedBy?: 'person' | 'agent';
}

/** The new run: whose retry it is, and where it begins. */
export interface Retried extends Started {
  of: string;
  at: string;
  /** By list, the items that are performed again, and how many results are kept. */
  items?: ItemsAgain[];
}

/**
 * How a question is answered. `digest`: of the question that was seen, or how it begins. Without it the question is answered as it is in
 * the inbox now, unless lists do not show the whole of it.
 */
export type AnswerOptions = Omit<AnswerRequest, 'id' | 'counts'> & {
  id?: string;
  /** Who `by` is. Default: a person, who answers what they are asked. An agent answers for a `person`. */
  as?: 'person' | 'agent';
  person?: string;
};

/** `handle`: the run that asked. `already`: it had been given before, by whom `answer` says. */
export interface AnsweredQuestion extends AnswerReply {
  handle: string;
}

/** What the model of a step is told with. */
export interface TellOptions {
  /** Who says it. */
  by: string;
  /** Key of the model step, behind the keys of nested runs that lead to it; may be left out where one is under way. */
  step?: string;
  /** Whoever says the same again says it under the same id: it is told once. Default: a new one. */
  id?: string;
}

/** `handle`: the run whose step is told. */
export interface ToldModel extends TellReply {
  handle: string;
}

/** Of a run that was ended by force. */
export interface ForcedRun extends Settled {
  handle: string;
  workflow: 'terminated' | 'had ended' | 'unknown';
  row: 'settled' | 'had ended' | 'none';
}

export interface Forced {
  /** The run, and those nested in it. */
  runs: ForcedRun[];
  processes: {
    /** Steps whose processes were ended, or are known to have ended since. */
    ended: number;
    /** Those that a worker held which is neither there nor of this host. */
    left: { executionId: string; handle: string; key: string; worker: string }[];
  };
}

/** How `execute` performs a command. */
export interface ExecuteOptions {
  /** Absolute: the folder that the command works in. Default: the working directory. */
  project?: string;
  /** Who performs it. Default: `local`. */
  by?: string;
  /** Of the call: a quick command with the same id is performed once, and gives the first result again. Otherwise the handle of the run. */
  id?: string;
  /** Of a command that becomes a run: the host whose workers run it. */
  host?: string;
  /** Stops waiting for the run, which goes on. */
  signal?: AbortSignal;
}

/** Which events `on` yields. */
export interface OnOptions {
  /** Only events that this run and runs nested in it publish. */
  handle?: string;
  /** The `position` of the last event that is known. Default: the last one that there is now. */
  after?: number;
  /** Ends the events. */
  signal?: AbortSignal;
}

/** How a client finds its servers. */
export interface ConnectOptions {
  env?: Environment;
  /** Told what is going on while services start; never called when everything is up. */
  onProgress?: (text: string) => void;
  /** False: services are used as they are; none is started, stopped or changed over to `env`. Default true. */
  startsServices?: boolean;
}
