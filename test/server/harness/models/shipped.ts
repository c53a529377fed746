/** A shipped example, as the command line reads it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Definition } from '../../../../language/model.ts';
import { parseDefinitionText } from '../../../../language/read/definition.ts';
import { catalogue } from '../../../catalogue.ts';
import { root } from '../../../project/tree.ts';

export function shipped(name: string): Definition {
  const file = join(root, 'sentinels', 'examples', `${name}.json`);
  const read = parseDefinitionText(readFileSync(file, 'utf8'), { catalogue });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.definition;
}
