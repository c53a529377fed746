/** Two runs in one project, as the command line shows and takes them back: neither takes what the other did. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StepChanges } from '../../../operations/checkpoints/changes.ts';
import type { Undone } from '../../../operations/checkpoints/undo.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';

let harness: Harness;
const model = new ModelDouble();
let gate: string;
beforeEach(async () => {
  harness = await Harness.open();
  await model.open();
  await harness.startWorker(model.env);
  gate = mkdtempSync(join(tmpdir(), 'sentinel-gate-'));
});
afterEach(async () => {
  await harness.close();
  await model.close();
  rmSync(gate, { recursive: true });
});

const here = (): string[] =>
  readdirSync(harness.project)
    .filter((name) => !name.startsWith('.'))
    .map((name) => `${name} ${readFileSync(join(harness.project, name), 'utf8').trim()}`)
    .toSorted();

async function undo(...args: string[]): Promise<{ code: number; undone: Undone }> {
  const { code, out } = await harness.command('undo', ...args, '--json');
  return { code, undone: JSON.parse(out) as Undone };
}

const open = (name: string): void => writeFileSync(join(gate, name), '');
/** Until the test opens it. */
const wait = (name: string): string => `touch ${gate}/${name}-waits; until [ -e ${gate}/${name} ]; do sleep 0.05; done`;
const waits = (name: string): Promise<unknown> =>
  until(async () => Promise.resolve(existsSync(join(gate, `${name}-waits`))));

test('one sleeps while the other writes by a shell, a command and a model: undo and changes of both', async () => {
  writeFileSync(join(harness.project, 'old.txt'), '0');
  const sleeper = await harness.start(once('sleeper', [shell(`echo a > mine.txt; ${wait('a')}`)]), {
    handle: 'shared-sleeper',
  });
  await waits('a');
  model.next(callsTo('c1', 'code_write', { path: 'by-model.txt', content: 'm' }), says('done'));
  await harness.run(
    once('writer', [
      shell('echo b > new.txt; echo b > old.txt'),
      { type: 'command', command: 'code/write', params: { path: 'named.txt', content: 'b' } },
      { type: 'llm', model: MODEL, prompt: 'write', tools: ['code/write'], parseToolCalls: true },
    ]),
    { handle: 'shared-writer' },
  );
  // While the sleeper still runs: what the writer's record names is the writer's, the rest is asked about.
  const early = await undo('shared-writer', '--dry-run');
  expect(early.code).toBe(1);
  expect(early.undone.conflicts).toEqual(
    ['new.txt', 'old.txt'].map((path) => ({
      path,
      why: 'it changed while steps.0@1 of shared-sleeper ran beside steps.0@1, so it may be the work of either',
    })),
  );
  expect((await undo('shared-writer', 'steps.2')).undone.files).toEqual([{ path: 'by-model.txt', done: 'removed' }]);
  open('a');
  await harness.result(sleeper);
  const held = await undo('shared-sleeper');
  expect(held.code).toBe(1);
  expect(held.undone).toMatchObject({ done: false, files: [{ path: 'mine.txt' }, {}, {}] });
  expect(held.undone.conflicts.map(({ path }) => path)).toEqual(['new.txt', 'old.txt']);
  expect(here()).toEqual(['mine.txt a', 'named.txt b', 'new.txt b', 'old.txt b']);
  const { out } = await harness.command('changes', 'shared-sleeper');
  expect(out).toContain('+ mine.txt  +1 -0\n');
  expect(out).toContain('+ new.txt  +1 -0  or by steps.0@1 of shared-writer, which ran at the same time');
  expect(out).not.toContain('named.txt');
  expect(out).not.toContain('by-model.txt');
  const shown = JSON.parse(
    (await harness.command('changes', 'shared-writer', 'steps.1', '--json')).out,
  ) as StepChanges[];
  expect(shown.map(({ files }) => files.map(({ path, others }) => [path, others]))).toEqual([[['named.txt', []]]]);
  const sure = await undo('shared-sleeper', '--sure');
  expect(sure.undone.files).toEqual([{ path: 'mine.txt', done: 'removed' }]);
  expect(sure.undone.left.map(({ path }) => path)).toEqual(['new.txt', 'old.txt']);
  expect(here()).toEqual(['named.txt b', 'new.txt b', 'old.txt b']);
  expect(await harness.command('undo', 'shared-sleeper', '--sure', '--force')).toMatchObject({ code: 2 });
});
