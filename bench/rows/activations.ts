/**
 * How long the interpreter holds the workflow thread at a stretch. The SDK replays histories in
 * this thread, and every call into the workflow's context goes through `vm.Script.runInContext`, which is timed here. An activation is the calls from its jobs to
 * its conclusion. What disturbed one replay did not disturb all, so each activation counts with its
 * quickest time.
 */
import { Script } from 'node:vm';
import { pureLoop, quickLoop, quickSteps, shaped } from '../definitions.ts';
import type { Definition } from '../../language/model.ts';
import { bounded, type Row } from '../report.ts';
import type { World } from '../world.ts';
import { replayCpuMs, replayOptions } from './replay.ts';

interface Call {
  name: string;
  ms: number;
}

/** Where the SDK leaves the name and the arguments of the call it is about to make. */
const calledWith = '__temporal_args';

/** Runs `use` while every call into a workflow's context is noted. */
async function noting(use: () => Promise<unknown>): Promise<Call[]> {
  const calls: Call[] = [];
  const original = Object.getOwnPropertyDescriptor(Script.prototype, 'runInContext');
  const run = original?.value as Script['runInContext'];
  Script.prototype.runInContext = function (this: Script, context, options) {
    const [, name] = (context[calledWith] as [unknown, string] | undefined) ?? [null, 'other'];
    const startedAt = performance.now();
    try {
      return run.call(this, context, options) as unknown;
    } finally {
      calls.push({ name, ms: performance.now() - startedAt });
    }
  };
  try {
    await use();
  } finally {
    Script.prototype.runInContext = run;
  }
  return calls;
}

/** The activations of each replay, in order; the first includes making the workflow. */
function activationsOf(calls: readonly Call[]): number[][] {
  const replays: number[][] = [];
  let ms = 0;
  for (const call of calls) {
    if (call.name === 'initRuntime') {
      replays.push([]);
      ms = 0;
    }
    ms += call.ms;
    if (call.name !== 'concludeActivation') continue;
    replays.at(-1)?.push(ms);
    ms = 0;
  }
  return replays;
}

async function activationsFor(world: World, definition: Definition, repeats: number): Promise<number[]> {
  const { workflowId } = await world.runSentinel(definition);
  const history = await world.client.workflow.getHandle(workflowId).fetchHistory();
  const { sentinel } = await replayOptions(world);
  const calls = await noting(() => replayCpuMs(sentinel, history, workflowId, { warmUp: 5, times: repeats }));
  const replays = activationsOf(calls).slice(2);
  const length = Math.max(...replays.map((replay) => replay.length));
  return Array.from({ length }, (_, index) => Math.min(...replays.map((replay) => replay[index] ?? Infinity)));
}

export async function activations(world: World, quick: boolean): Promise<Row[]> {
  const size = quick ? 200 : 1000;
  const repeats = quick ? 3 : 8;
  const rows: Row[] = [];
  const asActivities = {
    ...shaped('sequence', size),
    steps: [...shaped('sequence', size).steps, ...unreached(1000 - size)],
  };
  const measured: [string, Definition][] = [
    ['quick steps', quickSteps('code-read', 1000)],
    ['steps as activities', asActivities],
  ];
  for (const [name, definition] of measured) {
    const found = await activationsFor(world, definition, repeats);
    rows.push(
      bounded(`1000 ${name}: start`, {
        value: found[0] ?? Number.NaN,
        unit: 'ms',
        atMost: 50,
        note: 'from making the workflow to its first commands',
      }),
    );
    rows.push(longest(`1000 ${name}`, found));
  }
  rows.push(longest('200 branches at once', await activationsFor(world, shaped('fan', 200), repeats)));
  rows.push(longest('2000 passes of a condition', await activationsFor(world, pureLoop(2000), repeats)));
  rows.push(
    longest('5000 passes of a quick step', await activationsFor(world, quickLoop(quick ? 1000 : 5000, 1, 1), repeats)),
  );
  return rows;
}

/** Steps that are part of the definition and never reached, because a condition says so. */
function unreached(count: number): Definition['steps'] {
  if (count === 0) return [];
  return [{ type: 'condition', check: '$iteration > 1', then: shaped('sequence', count).steps }];
}

function longest(name: string, found: readonly number[]): Row {
  return bounded(`${name}: longest activation`, {
    value: Math.max(...found),
    unit: 'ms',
    atMost: 100,
    note: `of ${found.length}`,
  });
}
