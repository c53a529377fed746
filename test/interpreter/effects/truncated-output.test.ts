/** Of a long output a result holds the start and the end: that is said wherever a definition can read it. */
import { expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import type { Step } from '../../../language/model.ts';
import { MODES, runCase } from '../harness/run-case.ts';

const printed: Json = { exitCode: 0, stdout: 'a … z', stderr: '', output: 'a … z', success: true, durationMs: 1 };
const cut: Json = { ...printed, truncated: true };
const read = (data: string): Step => ({ type: 'emit', event: 'read', data });

const warningsOf = async (steps: Step[], value: Json): Promise<string[]> => {
  const found: string[] = [];
  for (const mode of MODES) {
    const { runs } = await runCase(
      {
        definition: { name: 'long', steps, loop: { type: 'once' } },
        replies: { 'shell *': { ok: true, value }, 'command *': { ok: true, value } },
      },
      mode,
    );
    found.push(
      runs
        .flatMap(({ events }) => events)
        .flatMap((event) =>
          event.type === 'warning' ? [`${event.code} ${event.message.split(/ holds| is a text/)[0] ?? ''}`] : [],
        )
        .join('\n'),
    );
  }
  return [...new Set(found)];
};

test.each<[string, Step[], string]>([
  [
    'as a variable',
    [{ type: 'shell', command: 'print', outputTo: 'all' }, read('$all.stdout')],
    'OUTPUT_TRUNCATED steps.0@1: "all"',
  ],
  [
    'of a shell as a command',
    [{ type: 'command', command: 'code/shell/execute', params: { command: 'print' }, outputTo: 'all' }],
    'OUTPUT_TRUNCATED steps.0@1: "all"',
  ],
  [
    'by its place',
    [{ type: 'shell', command: 'print' }, read('{{steps.0.stdout}}')],
    'OUTPUT_TRUNCATED steps.0@1: "steps.0"',
  ],
  [
    'by its label',
    [{ type: 'shell', command: 'print', name: 'listing' }, read('{{named.listing.output}}')],
    'OUTPUT_TRUNCATED steps.0@1: "named.listing"',
  ],
  [
    'of whose result only the exit code is read',
    [{ type: 'shell', command: 'print', name: 'listing' }, read('{{named.listing.exitCode}} {{steps.0.success}}')],
    '',
  ],
  ['read by nobody', [{ type: 'shell', command: 'print' }, read('no')], ''],
])('%s', async (_where, steps, warning) => {
  expect(await warningsOf(steps, cut)).toEqual([warning]);
  expect(await warningsOf(steps, printed)).toEqual(['']);
});

test('JSON that is nested too deeply to be read is said', async () => {
  const deep = (levels: number): Json => ({
    ...(printed as object),
    stdout: `${'['.repeat(levels)}${']'.repeat(levels)}\n`,
  });
  const steps: Step[] = [{ type: 'shell', command: 'print', outputTo: 'all' }, read('$all.data')];
  expect(await warningsOf(steps, deep(501))).toEqual(['VALUE_TOO_LARGE steps.0@1: "data" of "all"']);
  expect(await warningsOf(steps, deep(500))).toEqual(['']);
  expect(await warningsOf(steps, { ...(printed as object), stdout: `text ${'['.repeat(600)}` })).toEqual(['']);
});
