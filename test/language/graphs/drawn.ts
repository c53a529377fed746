/** Definitions that graphs are drawn of. */
import type { Definition, Step } from '../../../language/model.ts';
import { files, read } from '../../project/tree.ts';

export const shipped = new Map(
  files
    .filter((path) => /^sentinels\/.*\.json$/.test(path) && !/\.(?:schema|sentinel-test)\.json$/.test(path))
    .map((path): [string, unknown] => [path, JSON.parse(read(path))]),
);
export const known = (name: string): Definition | undefined =>
  [...shipped.values()].find((value): value is Definition => (value as Definition).name === name);

export const shell = (command: string, rest: Partial<Extract<Step, { type: 'shell' }>> = {}): Step => ({
  type: 'shell',
  command,
  ...rest,
});
export const once = (steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name: 'drawn',
  steps,
  loop: { type: 'once' },
  ...rest,
});
