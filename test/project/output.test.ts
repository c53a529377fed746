/** What people are shown is escaped in one place: nothing else writes to a terminal. */
import { expect, test } from 'vitest';
import { codeOf, files } from './tree.ts';

/** Programs of their own, whose output is a log or is read by a program. */
const PROGRAMS = [
  'services/prepare-external.ts',
  'services/supervisor/supervisor-process.ts',
  'services/temporal/gate.ts',
  'services/temporal/temporal-download.ts',
];
const WRITERS: readonly string[] = [
  ...PROGRAMS,
  'cli/output/ink.ts',
  'cli/output/output.ts',
  'cli/output/spinner.ts',
  // Prints into the log of a step.
  'runs/own/port-to-worker.ts',
  // Waits until all is written.
  'cli/main.ts',
  // Says that it is ready, as JSON of its settings.
  'worker/main.ts',
  // Says which steps it waits for, as JSON for its supervisor.
  'worker/ending.ts',
  'worker/say.ts',
];

test('only the output of the command line and what a worker says write to a terminal', () => {
  const sources = files.filter((path) =>
    /^(?:client|authoring|cli|worker|runs|services|activities|operations|systems|world|interpreter|language|prisma)\/.*\.ts$/.test(
      path,
    ),
  );
  const writes =
    /\bconsole\.|process\.std(?:out|err)\.write|\bstd(?:out|err)\.write|from 'picocolors'|import\('yocto-spinner'\)/;
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.filter((path) => writes.test(codeOf(path))).toSorted()).toEqual(WRITERS.toSorted());
});
