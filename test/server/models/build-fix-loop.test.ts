/** The example that builds until it passes, over the scripted wire: what a model's edits make of a broken project. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StepChanges } from '../../../operations/checkpoints/changes.ts';
import type { Definition } from '../../../language/model.ts';
import { ANSWER, UPDATES } from '../../../workflows/messages/messages.ts';
import { git, listModel, shippedExample, SOURCE, writeBrokenProject } from '../harness/models/broken-project.ts';
import { Harness, until } from '../harness/harness.ts';
import { answers, calls, ScriptedModel } from '../harness/models/model-runs.ts';

let harness: Harness;
let model: ScriptedModel;
beforeEach(async () => {
  harness = await Harness.open();
  writeBrokenProject(harness.project);
});
afterEach(async () => {
  await harness.close();
  await model.close();
});

/** With more time than a person would give it: these tests share their machine. */
const example = (rest: Partial<Definition> = {}): Definition => ({
  ...shippedExample('build-fix-loop'),
  timeoutMs: 240_000,
  ...rest,
});

const source = (): string => readFileSync(join(harness.project, SOURCE), 'utf8');
const subjects = (): string[] => git(harness.project, 'log', '--format=%s').trim().split('\n');
/** Of the one conversation that there is. */
const paid = (): number[] => [...model.paid.values()].flat();
const asked = (): string => JSON.stringify(model.double.asked.map(({ body }) => body));

const LAST = 'sum + priceOf(item), 0);\n}\n';
const ADDED = '\nconst priceOf = ({ price, count }: Item): number => price * count;\n';
/** What is added holds the passage that it is put behind: made twice, it would be there twice. */
const mend = { id: 'edit', name: 'code_edit', input: { path: SOURCE, old: LAST, new: `${LAST}${ADDED}` } };

test('a broken project is mended by edits of the model, builds, and is committed', async () => {
  model = await new ScriptedModel(({ turn }) => {
    if (turn === 1) return calls({ id: 'read', name: 'code_read', input: { path: SOURCE } });
    return turn === 2 ? calls(mend) : answers('priceOf was not there.');
  }).open();
  listModel(model);
  await harness.startWorker(model.env);
  const { handle, result, events } = await harness.run(example());
  expect(result).toMatchObject({ outcome: 'completed', iterations: 2, outputs: { fix: 'priceOf was not there.' } });
  expect(source().split(ADDED)).toHaveLength(2);
  expect(subjects()).toEqual(['Build passes', 'as it was']);
  // It is told what the build complained of, and where.
  expect(asked()).toContain("src/total.ts(7,44): error TS2304: Cannot find name 'priceOf'");
  const lines = events.flatMap((event) => (event.type === 'step-finished' ? [`${event.key} ${event.outcome}`] : []));
  expect(lines).toContain('steps.3.else.0.then.0@1/turn.2/call.0 ok');
  const { out } = await harness.command('changes', handle, '--json');
  const edits = (JSON.parse(out) as StepChanges[]).filter(({ what }) => what === 'code/edit');
  expect(edits).toMatchObject([
    {
      key: 'steps.3.else.0.then.0@1/turn.2/call.0',
      files: [{ path: SOURCE, status: 'changed', added: 2, removed: 0 }],
      patch: expect.stringContaining('+const priceOf') as string,
    },
  ]);
  const broken = git(harness.project, 'show', `HEAD~1:${SOURCE}`);
  await harness.command('undo', handle, edits[0]?.key ?? '', '--only');
  expect(source()).toBe(broken);
});

test('a worker that is killed twice in between does nothing twice', async () => {
  const slow = 4000;
  model = await new ScriptedModel(({ turn }) =>
    turn === 1
      ? { ...calls(mend), silentMs: (paid()[0] ?? 0) > 1 ? 0 : slow }
      : { ...answers('Done.'), silentMs: (paid()[1] ?? 0) > 1 ? 0 : slow },
  ).open();
  listModel(model);
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(example());
  await until(() => paid()[0] === 1, 120_000);
  await first.kill9();
  const second = await harness.startWorker(model.env);
  // The edit is made, and its outcome kept: the next turn has been asked for.
  await until(() => paid()[1] === 1, 120_000);
  await second.kill9();
  listModel(model);
  await harness.startWorker(model.env);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', iterations: 2 });
  expect(source().split(ADDED)).toHaveLength(2);
  expect(subjects()).toEqual(['Build passes', 'as it was']);
  // What had not been answered is asked for again, and nothing else.
  expect(paid()).toEqual([2, 2]);
  expect(await harness.store.calls.list(handle)).toMatchObject([{ state: 'done', tries: 1 }]);
});

test('a model that edits badly is not let go on for ever: its edits are taken back, and its owner is asked', async () => {
  const before = (): string => git(harness.project, 'show', `HEAD:${SOURCE}`);
  const seen: string[] = [];
  model = await new ScriptedModel(({ turn }) => {
    seen.push(source());
    if (turn > 1) return answers('That should do.');
    const old = source().includes('return 0;') ? 'return 0;' : 'return items';
    return calls({ id: 'edit', name: 'code_edit', input: { path: SOURCE, old, new: 'return 0; return nothing' } });
  }).open();
  listModel(model);
  await harness.startWorker(model.env);
  const handle = await harness.start(example());
  await harness.untilEvent(handle, ({ type }) => type === 'asked');
  const { questions } = await harness.state(handle);
  expect(questions).toMatchObject([
    { kind: 'timeout', choices: expect.arrayContaining(['extend', 'stop']) as string[] },
  ]);
  expect(seen.at(-1)).not.toBe(before());
  expect(source()).toBe(before());
  const [question] = questions;
  const answer = { id: question?.id ?? '', choice: 'stop', by: 'tester' };
  await harness.workflow(handle).executeUpdate(ANSWER, { args: [answer] });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'stopped', limit: 'maxIterations', iterations: 5 });
  expect(source()).toBe(before());
  expect(git(harness.project, 'status', '--porcelain')).toBe('');
  expect(subjects()).toEqual(['as it was']);
});

test('a run that is stopped while the build is broken leaves the project as it found it', async () => {
  const before = source();
  model = await new ScriptedModel(({ turn }) =>
    turn === 1
      ? calls({
          id: 'edit',
          name: 'code_edit',
          input: { path: SOURCE, old: 'return items', new: 'return 0; return x' },
        })
      : { ...answers('Done.'), silentMs: 3000 },
  ).open();
  listModel(model);
  await harness.startWorker(model.env);
  const handle = await harness.start(example());
  await until(() => source() !== before, 120_000);
  await harness.workflow(handle).executeUpdate(UPDATES.stop);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'stopped' });
  expect(source()).toBe(before);
});
