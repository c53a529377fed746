/** How a run is retried by a program. */
import type { JsonObject } from '../../language/json.ts';
import type { ItemsAgain } from '../../language/events/run-event.ts';
import type { Definition } from '../../language/model.ts';
import type { StartChoices } from '../../language/policy/start-choices.ts';
import type { Started } from './starting.ts';

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
