/** `sentinel changes HANDLE [KEY]`. */
import type { Command } from 'commander';
import type { StepChanges } from '../../client/client.ts';
import { moveOf } from '../../client/show/moved-refs.ts';
import type { Paint } from '../../client/show/paint.ts';
import { openOutput, type Output } from '../output/output.ts';
import { withRun } from '../runs/run-named.ts';
import { defined } from '../../language/defined.ts';

interface Options {
  json?: boolean;
  stat?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Shows what a run, and the runs nested in it, changed in its project: a unified diff for each step that changed something, and for each undo, with what it moved in the git repository of the project (branches, tags, HEAD, what is staged, stashes, work trees). Exit code 4 if there is no such run.',
    )
    .argument('<handle>', 'the run')
    .argument('[key]', 'only this step; steps.2 means every pass of that step')
    .option('--stat', 'show only the names of the files, with the numbers of added and removed lines')
    .addHelpText(
      'after',
      `
Examples:
  sentinel changes nightly --stat
  sentinel changes nightly steps.2@1
  sentinel changes nightly --json    [{key, what, at, state, why, isBackground, files, refs, large, patch, isCut}]`,
    )
    .action((handle: string, key: string | undefined, options: Options) => changes(handle, key, options));
}

async function changes(given: string, key: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  await withRun(output, given, async (client, handle) => {
    const patches = options.stat !== true;
    const found = await client.changes(handle, { patches, ...defined({ key }) });
    output.object(found);
    for (const step of found) show(output, step);
    if (found.length === 0) output.line('Nothing was changed.');
  });
}

function show(output: Output, step: StepChanges): void {
  const { paint } = output;
  const { key, what, at, state, why, isBackground, files, refs, large, patch, isCut } = step;
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  output.line(
    [paint.strong(key), what, paint.dim(when), isBackground ? paint.warn('in the background') : '']
      .filter((word) => word !== '')
      .join('  '),
  );
  if (state === 'skipped') output.line(paint.warn(`  no state was taken: ${why ?? ''}`));
  if (state === 'unknown')
    output.line(
      paint.warn(
        why === null
          ? '  the step has not ended, or its end was not recorded'
          : `  no state was taken when the step had ended: ${why}`,
      ),
    );
  for (const { path, status, added, removed, others } of files) {
    const counts = paint.dim(added === null ? 'no text' : `+${added} -${removed ?? 0}`);
    output.line(`  ${markOf(status, paint)} ${path}  ${counts}${either(others, paint)}`);
  }
  for (const ref of refs)
    output.line(`  ${paint.warn('⎇')} ${ref.name}  ${paint.dim(moveOf(ref))}${either(ref.others, paint)}`);
  for (const path of large) output.line(`  ${paint.warn('!')} ${path}  ${paint.dim('changed, and too large to keep')}`);
  for (const line of patch === null ? [] : linesOf(patch)) output.line(coloured(line, paint));
  if (isCut) output.line(paint.dim('(the diff is cut here; --stat names all files)'));
}

const either = (others: readonly string[], paint: Paint): string =>
  others.length === 0 ? '' : paint.warn(`  or by ${others.slice(0, 3).join(', ')}, which ran at the same time`);

function markOf(status: StepChanges['files'][number]['status'], paint: Paint): string {
  switch (status) {
    case 'created':
      return paint.good('+');
    case 'deleted':
      return paint.bad('-');
    case 'changed':
      return paint.warn('~');
    default:
      return status satisfies never;
  }
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

function coloured(line: string, paint: Paint): string {
  if (/^(?:diff |index |--- |\+\+\+ |old mode|new mode|deleted file|new file)/.test(line)) return paint.dim(line);
  if (line.startsWith('+')) return paint.good(line);
  return line.startsWith('-') ? paint.bad(line) : line;
}
