/** How a run is started by a program. */
import type { JsonObject } from '../../language/json.ts';
import type { SavedOrigin } from '../../language/events/run-event.ts';
import type { Definition } from '../../language/model.ts';
import type { Policy } from '../../language/policy/policy.ts';

export interface StartOptions {
  /** The folder that the run works in, as an absolute path: `$PROJECT_ROOT`, against which relative paths are resolved. */
  project: string;
  /** Values of the definition's inputs. */
  inputs?: JsonObject;
  /** Who the run belongs to: questions go to this persona. Default: `local`. */
  persona?: string;
  /** Default: the name of the definition and eight random characters. */
  handle?: string;
  /** Run the steps on the workers of this host only. */
  host?: string;
  /** Finds the definitions that `$ref`s name and that are not saved; `readDefinition` returns one for a file. */
  known?: (name: string) => Definition | undefined;
  /**
   * Rules about the actions of the run, in order: the first that matches allows, asks or refuses. They hold besides the
   * policy of the project, also for runs that it starts. Throws `POLICY_INVALID`.
   */
  policy?: Policy;
  /** Continue as new after so many steps; default: when Temporal suggests it. */
  continueEvery?: number;
  /** Recorded with the run: the version of the saved definition that it was started from. */
  origin?: SavedOrigin;
  /** The text of a cassette. The run then sends no request to a model, and gets the recorded answers. */
  cassette?: string;
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
