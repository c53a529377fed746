/** `sentinel diff A B`. */
import type { Command } from 'commander';
import {
  diffRuns,
  type RunDiff,
  type RunEnd,
  type RunSide,
  type SeenStep,
  type StepDiff,
} from '../../client/show/diff-runs.ts';
import { nestedEvents } from '../../client/follow/nested-events.ts';
import type { OpenClient } from '../../client/open-client.ts';
import type { Paint } from '../../client/show/paint.ts';
import { durationText, exitCodeOf, oneLine } from '../../client/show/trace.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { table } from '../output/table.ts';
import { withClient } from '../request/with-client.ts';
import { runNamed } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  all?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Compares two runs step by step, including nested runs. Times and ids are ignored. Exit code 0 if the runs did the same, 1 if they differ, 4 if there is no such run.',
    )
    .argument('<handle>', 'a run')
    .argument('<other-handle>', 'another run')
    .option('--all', 'also list the steps without a difference, and those before a fork')
    .addHelpText(
      'after',
      `
Examples:
  sentinel diff nightly-1 nightly-2
  sentinel diff before after --json    {a, b, same, run, steps}`,
    )
    .action((a: string, b: string, options: Options) => compare(a, b, options));
}

async function compare(one: string, other: string, options: Options): Promise<void> {
  const output = openOutput(options);
  await withClient(output, async (client) => {
    const [a, b] = [await runNamed(client, one), await runNamed(client, other)];
    const sides = [await sideOf(client, a), await sideOf(client, b)] as const;
    const diff = diffRuns(...sides);
    output.object({ a, b, ...diff });
    for (const line of diffLines(diff, { a, b, all: options.all === true, paint: output.paint })) output.line(line);
    process.exitCode = diff.same ? EXIT.ok : EXIT.failed;
  });
}

async function sideOf(client: OpenClient, handle: string): Promise<RunSide> {
  const { durationMs, status } = await client.status(handle);
  const events = await client.events(handle);
  return {
    handle,
    events,
    durationMs,
    isPaused: status === 'paused',
    nested: await nestedEvents(client, handle, events),
  };
}

export function diffLines(
  diff: RunDiff,
  { a, b, all, paint }: { a: string; b: string; all: boolean; paint: Paint },
): string[] {
  const shown = diff.steps.filter(({ status }) => all || (status !== 'same' && status !== 'shared'));
  const rows = shown.map((step) => [
    markOf(step, paint),
    step.key,
    labelOf(step),
    sideText(step.a, paint),
    sideText(step.b, paint),
  ]);
  const counts = (['same', 'different', 'shared', 'only-a', 'only-b'] as const).map(
    (status) => diff.steps.filter((step) => step.status === status).length,
  );
  const [same = 0, different = 0, shared = 0, onlyA = 0, onlyB = 0] = counts;
  const before = shared === 0 ? '' : `, ${shared} done before the fork`;
  return [
    ...table(['', 'STEP', '', a, b], [['', 'run', '', endText(diff.run.a), endText(diff.run.b)], ...rows], paint),
    ...shown.filter(({ differs }) => differs.includes('value')).flatMap((step) => valueLines(step, paint)),
    diff.same
      ? paint.good(`the same: ${same} steps${before}`)
      : `${same} the same, ${different} different, ${onlyA} only in ${a}, ${onlyB} only in ${b}${before}`,
  ];
}

function markOf({ status }: StepDiff, paint: Paint): string {
  switch (status) {
    case 'same':
      return ' ';
    case 'shared':
      return paint.dim('↑');
    case 'different':
      return paint.warn('≠');
    case 'only-a':
      return paint.bad('-');
    case 'only-b':
      return paint.good('+');
    default:
      return status satisfies never;
  }
}

function labelOf({ a, b, differs }: StepDiff): string {
  const [before, after] = [a, b].map((step) =>
    step === undefined ? '' : `${step.step} ${oneLine(step.label).slice(0, 40)}`,
  ) as [string, string];
  return differs.includes('step') ? `${before} → ${after}` : after || before;
}

function sideText(step: SeenStep | undefined, paint: Paint): string {
  if (step === undefined) return '';
  const exitCode = exitCodeOf(step);
  const ended = exitCode === 0 ? step.outcome : `exit ${exitCode}`;
  const outcome = step.failure === undefined ? ended : `${ended} ${step.failure}`;
  const colour =
    step.outcome === 'failed' ? paint.bad : step.outcome === 'ok' && exitCode === 0 ? paint.good : paint.warn;
  return `${colour(outcome)}${step.durationMs === null ? '' : ` ${paint.dim(durationText(step.durationMs))}`}`;
}

function endText({ outcome, iterations, durationMs }: RunEnd): string {
  return `${outcome}, ${iterations === 1 ? '1 pass' : `${iterations} passes`}${durationMs === null ? '' : ` ${durationText(durationMs)}`}`;
}

function valueLines({ key, a, b }: StepDiff, paint: Paint): string[] {
  return [
    `  ${paint.strong(key)}`,
    `    ${paint.bad('-')} ${oneLine(a?.preview ?? '')}`,
    `    ${paint.good('+')} ${oneLine(b?.preview ?? '')}`,
  ];
}
