/** Recorded histories as files: what happened, and the trace that the same run had. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('recorded/', import.meta.url));

export interface Recorded {
  name: string;
  outcome: string;
  /** As `shapeOf` tells it. */
  shape: string[];
  /** Histories in Temporal's JSON form, one for each time the run continued as new. */
  histories: unknown[];
}

export const fileOf = (name: string): string => join(folder, `${name}.json`);

export function allRecorded(): Recorded[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recorded);
}
