/** The example that explores a code base, and a code base for it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Definition, Step } from '../../../../language/model.ts';
import { parseDefinitionText } from '../../../../language/read/definition.ts';
import { catalogue } from '../../../catalogue.ts';
import { root } from '../../../project/tree.ts';

const file = join(root, 'sentinels', 'examples', 'explore-codebase.json');
export const query = 'which port the server listens on';

export function writeCodebase(project: string): void {
  mkdirSync(join(project, 'src'));
  writeFileSync(join(project, 'src', 'main.js'), "import { serve } from './server.js';\nserve();\n");
  writeFileSync(join(project, 'src', 'server.js'), 'export const serve = () => listen(8123);\n');
  execFileSync('git', ['init', '--quiet'], { cwd: project });
  execFileSync('git', ['add', '--all', 'src'], { cwd: project });
}

const shorter = (step: Step): Step => (step.type === 'llm' ? { ...step, maxTokens: 200 } : step);

/** With more time, and shorter answers: on a busy machine a small model takes its time. */
export function example(): Definition {
  const read = parseDefinitionText(readFileSync(file, 'utf8'), { catalogue });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return { ...read.definition, steps: read.definition.steps.map(shorter), timeoutMs: 200_000 };
}
