/** What a command would do, as `sentinel simulate` tells it: nothing of it happens, and no world is asked but this one. */
import type { Json, JsonObject } from '../language/json.ts';

/** The project and the records as the simulation left them. */
export interface SimulatedWorld {
  /** Paths are confined as those of the step are; throws `Failure`. */
  files: {
    read(path: string): Buffer;
    write(path: string, content: string | Buffer): { bytes: number; changed: boolean; isNew: boolean };
    check(path: string): void;
  };
  records: JsonObject[];
}

export interface Predicted {
  /** In a few words. */
  text: string;
  /** `project`: the files say so. */
  source: 'project' | 'assumed';
  /** Absent: nobody can say, and the step gets the usual answer. */
  result?: Json;
}

/** What a simulation has for a parameter: its references may have come to anything. */
export const simulatedText = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
