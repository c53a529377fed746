/** A working folder stated once for a whole pipeline is where each of its shell steps works that states none. */
import { SHELL_COMMAND } from '../../catalogue.ts';
import { isPlain, type Draft, type Plain } from '../draft/draft.ts';

/** After the steps are canonical. */
export function rewriteWorkingDir(draft: Draft): void {
  const { workingDir } = draft.value;
  if (typeof workingDir !== 'string') return;
  delete draft.value['workingDir'];
  spread(draft.value, workingDir);
}

function spread(value: unknown, cwd: string): void {
  if (Array.isArray(value)) {
    for (const item of value) spread(item, cwd);
    return;
  }
  if (!isPlain(value)) return;
  if (value['type'] === 'shell') value['cwd'] ??= cwd;
  if (value['type'] === 'command' && value['command'] === SHELL_COMMAND)
    value['params'] = withCwd(value['params'], cwd);
  for (const key of ['steps', 'then', 'else', 'always', 'branches', 'definition']) spread(value[key], cwd);
}

function withCwd(params: unknown, cwd: string): unknown {
  const known: Plain = isPlain(params) ? params : {};
  return { cwd, ...known };
}
