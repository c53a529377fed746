/**
 * Steps of runs, seen and edited from inside a run. An edit that a step makes has an id made from
 * the step's key, so trying the step again makes it once.
 */
import * as z from 'zod';
import type { JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import type { EditRequest } from '../../interpreter/edits.ts';
import { Failure } from '../../world/failures/failures.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { refuseEdit } from '../../operations/brought.ts';

const Fields = z.record(z.string(), Value);
const Row = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

/** `index` counts the run's own steps from 0, or is the path of a step at any depth. */
const Where = {
  sentinelId: z.string().min(1),
  index: z.union([z.number().int().nonnegative(), z.string().min(1)]),
  note: z.string().min(1).optional(),
};
type Where = { sentinelId: string; index: number | string; note?: string | undefined };

const pathOf = ({ index }: Pick<Where, 'index'>): string => (typeof index === 'number' ? `steps.${index}` : index);

type Change = Pick<EditRequest, 'op' | 'revision'> & { step?: JsonObject };

async function edit(context: CommandContext, where: Where, change: Change): Promise<JsonObject> {
  refuseEdit(context);
  const { run, key, runPort } = context;
  const { note } = where;
  const request: EditRequest = {
    ...change,
    path: pathOf(where),
    by: run.persona,
    ...defined({ note }),
  };
  const reply = await runPort.edit(where.sentinelId, request, `edit ${run.handle} ${key}`);
  return reply as unknown as JsonObject;
}

const revisionAt = async ({ runPort }: CommandContext, { sentinelId }: Where): Promise<number> =>
  (await runPort.steps(sentinelId)).revision;

const Update = z.union(
  [z.strictObject({ ...Where, params: Fields }), z.strictObject({ ...Where, step: Fields })],
  'must hold sentinelId, index, and either params (of a command step) or the whole step',
);

async function update(given: z.infer<typeof Update>, context: CommandContext): Promise<JsonObject> {
  if ('step' in given)
    return edit(context, given, { op: 'update', revision: await revisionAt(context, given), step: given.step });
  const { revision, steps } = await context.runPort.steps(given.sentinelId);
  const path = pathOf(given);
  const step = steps.find((listed) => listed.path === path)?.step;
  if (step === undefined)
    throw new Failure(
      'STEP_NOT_FOUND',
      `${given.sentinelId} has no step "${path}"; sentinel/step/list names those there are`,
    );
  return edit(context, given, {
    op: 'update',
    revision,
    step: withParams(step as unknown as JsonObject, given.params),
  });
}

/** What a shell step runs are fields of its own; every other step has `params`. */
function withParams(step: JsonObject, params: JsonObject): JsonObject {
  return step['type'] === 'command' ? { ...step, params } : { ...step, ...params };
}

export const stepCommands: Command[] = [
  defineCommand({
    name: 'sentinel/step/list',
    word: 'steps',
    description: 'Lists the steps of a run, and which of them can still be changed.',
    permission: 'read',
    speed: 'long',
    runParams: ['sentinelId'],
    params: z.strictObject({ sentinelId: z.string().min(1) }),
    result: Row,
    async run({ sentinelId }, { runPort }) {
      const { definition: _definition, ...list } = await runPort.steps(sentinelId);
      return list as unknown as JsonObject;
    },
  }),
  defineCommand({
    name: 'sentinel/step/add',
    word: 'add',
    description: 'Adds a step to a run that is under way.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'edits',
    programParams: ['step'],
    runParams: ['sentinelId'],
    params: z.strictObject({ ...Where, step: Fields }),
    result: Row,
    run: async (given, context) =>
      edit(context, given, { op: 'add', revision: await revisionAt(context, given), step: given.step }),
  }),
  defineCommand({
    name: 'sentinel/step/update',
    word: 'update',
    description: 'Changes a step of a run that it has not reached.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'edits',
    programParams: ['step'],
    runParams: ['sentinelId'],
    params: Update,
    result: Row,
    run: update,
  }),
  defineCommand({
    name: 'sentinel/step/remove',
    word: 'remove',
    description: 'Removes a step of a run that it has not reached.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'edits',
    runParams: ['sentinelId'],
    params: z.strictObject(Where),
    result: Row,
    run: async (given, context) => edit(context, given, { op: 'remove', revision: await revisionAt(context, given) }),
  }),
];
