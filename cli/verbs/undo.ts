/** `sentinel undo HANDLE [KEY]`. */
import { type Command, Option } from 'commander';
import type { Undone } from '../../client/client.ts';
import { EXIT } from '../output/exit-codes.ts';
import { backOf } from '../../client/show/moved-refs.ts';
import { openOutput, type Output } from '../output/output.ts';
import { withRun } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  only?: boolean;
  dryRun?: boolean;
  force?: boolean;
  sure?: boolean;
  refs?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Restores the files that a run and its nested runs changed to their state before the run, or before one of its steps. Other files are not touched. With --refs it also moves back what they moved in the git repository of the project. If somebody else has changed one of the files meanwhile, or another run may have, nothing is restored, and the files are listed (exit code 1, also for --force within a step of a run). An undo can be undone by its own key. Exit code 4 if there is no such run.',
    )
    .argument('<handle>', 'the run, which must have ended or be paused')
    .argument('[key]', 'take back this step and all later ones; steps.2 means every pass of that step')
    .option('--only', 'take back only that step')
    .option('--refs', 'also move back HEAD, branches, tags, stashes and what is staged; commits stay in the repository')
    .option('--dry-run', 'show what would be restored, and change nothing')
    .option(
      '--force',
      'also restore files that somebody else changed; undoing the undo brings their present content back',
    )
    .addOption(
      new Option('--sure', 'leave the files in conflict as they are, and restore the others').conflicts('force'),
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel undo nightly --dry-run
  sentinel undo nightly steps.2@1
  sentinel undo nightly undo-1           takes the first undo back
  sentinel undo nightly --refs           the repository, too
  sentinel undo nightly --json           {handle, files, refs, conflicts, left, gaps, done, undo}`,
    )
    .action((handle: string, key: string | undefined, options: Options) => undo(handle, key, options));
}

async function undo(given: string, key: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  await withRun(output, given, async (client, handle) => {
    const { only, dryRun, force, sure, refs } = options;
    const undone = await client.undo(handle, { key, only, dryRun, force, sure, refs });
    output.object(undone);
    show(output, undone, options);
    const isHeld = undone.conflicts.length > 0 && force !== true;
    const isLeft = undone.left.length > 0 || (refs === true && undone.refs.some(({ done }) => !done));
    process.exitCode = isHeld || (undone.done && isLeft) ? EXIT.failed : EXIT.ok;
  });
}

function show(output: Output, undone: Undone, options: Options): void {
  const { handle, files, refs, conflicts, left, gaps, done, undo: key } = undone;
  const { paint } = output;
  const isHeld = conflicts.length > 0 && options.force !== true;
  for (const { path, done: deed } of isHeld ? [] : files)
    output.line(`${deed === 'removed' ? paint.bad('-') : paint.good('←')} ${path}`);
  const isAsked = options.refs === true;
  for (const ref of isAsked && !isHeld ? refs.filter(({ why }) => why === null) : [])
    output.line(`${paint.good('⎇')} ${ref.name}  ${paint.dim(backOf(ref))}`);
  for (const { path, why } of conflicts) output.line(`${paint.warn('≠')} ${path}  ${paint.dim(why)}`);
  const unmoved =
    isAsked && !isHeld ? refs.flatMap(({ name, why }) => (why === null ? [] : [{ path: name, why }])) : [];
  for (const { path, why } of [...left, ...unmoved])
    output.line(`${paint.warn('!')} ${path}  ${paint.dim(`left as it is: ${why}`)}`);
  for (const { key: step, why } of gaps)
    output.line(`${paint.warn('!')} ${step}  ${paint.dim(`no state before: ${why}`)}`);
  const moved = isAsked ? refs.filter(({ why }) => why === null).length : 0;
  const what = [
    ...(files.length > 0 || moved === 0 ? [counted(files.length, 'file')] : []),
    ...(moved > 0 ? [counted(moved, 'ref')] : []),
  ].join(' and ');
  if (isHeld)
    output.line(
      `Nothing was restored: ${heldWhat(conflicts, refs)} not as the run left ${conflicts.length === 1 ? 'it' : 'them'}. --sure restores the other files. --force restores all the same, and keeps what is there now.`,
    );
  else if (files.length + refs.length === 0) output.line('There is nothing to take back.');
  else if (files.length + moved > 0 && options.dryRun === true) output.line(`${what} would be put back.`);
  else if (done && key !== null)
    output.line(`${what} put back. "sentinel undo ${handle} ${key}${isAsked ? ' --refs' : ''}" takes this back.`);
  if (!isAsked && refs.length > 0) output.line(movedToo(refs.length, files.length > 0));
}

const movedToo = (count: number, isBeside: boolean): string =>
  `${counted(count, 'ref')} ${count === 1 ? 'was' : 'were'} moved${isBeside ? ', too' : ''}: --refs takes ${count === 1 ? 'it' : 'them'} back.`;

function heldWhat(conflicts: Undone['conflicts'], refs: Undone['refs']): string {
  const names = new Set(refs.flatMap(({ name, why }) => (why === null ? [] : [`${name} ${why}`])));
  const moved = conflicts.filter(({ path, why }) => names.has(`${path} ${why}`)).length;
  const files = conflicts.length - moved;
  return [...(files > 0 ? [counted(files, 'file')] : []), ...(moved > 0 ? [counted(moved, 'ref')] : [])].join(' and ');
}

const counted = (count: number, what: string): string => `${count} ${count === 1 ? what : `${what}s`}`;
