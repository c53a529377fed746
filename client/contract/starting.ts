/** How a run is started by a program. */
import type { SavedOrigin } from '../../language/events/run-event.ts';
import type { Definition } from '../../language/model.ts';
import type { StartChoices } from '../../language/policy/start-choices.ts';

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
