/** What a cycle works with, and what it has taught. */
import * as z from 'zod';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { CYCLE_FAILURES } from './stated-failures.ts';
import { keepMachine, ownCycle } from './store.ts';

const insightLengthMax = 10_000;

/** Files that say how changes are made in a project, in the order in which they are looked for. */
export const Settings = z.strictObject({ blueprints: z.array(z.string().min(1)).max(20).default([]) });

interface Picked {
  files: string[];
  blueprint: string | null;
}

/** The files and the blueprint that the cycle works with; both can be read. */
async function curate({ files, blueprint }: Picked, context: Context) {
  const { id, machine } = await ownCycle(context);
  const { cycleContext } = machine;
  if (cycleContext === null) throw new Error('bug: a cycle that is under way is about something');
  const chosen = blueprint === null || blueprint === '' ? await blueprintIn(context) : blueprint;
  const selectedFiles = [...new Set(files)];
  const named = chosen === null || selectedFiles.includes(chosen) ? selectedFiles : [...selectedFiles, chosen];
  const { text } = (await context.call('changeset/bundle', { files: named, reason: cycleContext.goal })) as {
    text: string;
  };
  await keepMachine(context, id, { ...machine, cycleContext: { ...cycleContext, selectedFiles, blueprint: chosen } });
  return { files: selectedFiles, blueprint: chosen, text };
}

async function blueprintIn(context: Context): Promise<string | null> {
  for (const path of Settings.parse(context.settings).blueprints) {
    const there = await context.call('code/read', { path }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Failure) return false;
        throw error;
      },
    );
    if (there) return path;
  }
  return null;
}

async function reflect({ insight, success }: { insight: string; success: boolean }, context: Context) {
  const { id, machine } = await ownCycle(context);
  const { currentState, cycleContext } = machine;
  if (cycleContext === null || (currentState !== 'REFLECTING' && currentState !== 'ERROR'))
    throw new Failure(
      'CYCLE_EDGE_MISSING',
      `a cycle reflects in REFLECTING, or in ERROR where it failed; it is in ${currentState}`,
    );
  const content = { goal: cycleContext.goal, insight, success, cycle: id };
  const stored = (await context.call('memory/store', {
    type: 'reflection',
    content,
    tags: ['cycle', success ? 'success' : 'failure'],
  })) as { id: string };
  const reflections = [...cycleContext.reflections, { insight, success, memory: stored.id }];
  await keepMachine(context, id, { ...machine, cycleContext: { ...cycleContext, reflections } });
  return { memory: stored.id, cycle: id };
}

export const contextCommands: Command[] = [
  defineCommand({
    name: 'cycle/curate',
    description: 'Takes the files and the blueprint that the cycle works with, and gathers them (cats.md).',
    permission: 'write',
    speed: 'quick',
    doors: ['step'],
    failures: CYCLE_FAILURES,
    textField: 'text',
    params: z.strictObject({
      files: z.array(z.string().min(1)).min(1).max(200),
      blueprint: z.string().nullable().default(null),
    }),
    result: z.strictObject({ files: z.array(z.string()), blueprint: z.string().nullable(), text: z.string() }),
    run: curate,
    predict: ({ files = [], blueprint = null }) => ({
      text: 'gathers the files of the cycle',
      source: 'assumed',
      result: { files, blueprint, text: '' },
    }),
  }),
  defineCommand({
    name: 'cycle/reflect',
    description: 'Keeps what a cycle has taught, whether it went well or failed, with the cycle and as a memory.',
    permission: 'write',
    speed: 'quick',
    doors: ['step'],
    failures: CYCLE_FAILURES,
    textParams: ['insight'],
    params: z.strictObject({ insight: z.string().trim().min(1).max(insightLengthMax), success: z.boolean() }),
    result: z.strictObject({ memory: z.string(), cycle: z.number() }),
    run: reflect,
    predict: () => ({
      text: 'remembers what the cycle has taught',
      source: 'assumed',
      result: { memory: '', cycle: 0 },
    }),
  }),
];
