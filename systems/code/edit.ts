/**
 * `code/edit`: passages of a file of the project are replaced, all or none. What the file becomes is noted
 * before it is written, so that an attempt whose worker died is not done a second time: a passage that
 * stands in what replaced it would be found again.
 */
import { ownMasker } from '../../world/own-keys/own-keys.ts';
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { type Predicted, type SimulatedWorld, simulatedText } from '../../operations/predicted.ts';
import type { Edit } from './editing/apply-edits.ts';
import { editFile, type EditResult } from './editing/edit-file.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import {
  changedMeanwhile,
  checkWritable,
  filesWritten,
  readWhole,
  writeWhole,
} from '../../operations/files/whole-file.ts';

const Passage = z
  .string()
  .refine((text) => text.trim() !== '', 'must hold more than white space')
  .describe('the passage as it stands in the file, with enough around it to be there once');
const Replacement = z.string().describe('what comes in its place');
const All = z.boolean().describe('true: every place of the passage');

const Params = z
  .strictObject({
    path: z.string().min(1),
    old: Passage.optional(),
    new: Replacement.optional(),
    all: All.optional(),
    edits: z
      .array(z.strictObject({ old: Passage, new: Replacement, all: All.optional() }))
      .min(1)
      .max(COMMAND_BOUNDS.editsMax)
      .optional()
      .describe('several at once, in place of "old" and "new": one after the other, all or none'),
  })
  .superRefine((params, context) => {
    const { old, new: replacement, all, edits } = params;
    const isOne = old !== undefined && replacement !== undefined;
    if (edits === undefined ? !isOne : (old ?? replacement ?? all) !== undefined)
      context.addIssue('must hold "old" and "new", or "edits"');
    for (const { old: passage, new: instead } of editsOf(params))
      if (passage === instead) context.addIssue('"old" and "new" are the same, so there is nothing to edit');
  });
type Params = z.infer<typeof Params>;

function editsOf({ old, new: replacement, all, edits }: Omit<Params, 'path'>): Edit[] {
  if (edits !== undefined) return edits;
  return old === undefined || replacement === undefined ? [] : [{ old, new: replacement, all }];
}

const Result: z.ZodType<EditResult> = z.strictObject({
  path: z.string(),
  edits: z.number(),
  firstLine: z.number(),
  diff: z.string(),
});

async function edit({ path, ...rest }: Params, context: CommandContext): Promise<EditResult> {
  const edits = editsOf(rest);
  checkWritable(path, context);
  const before = await readWhole(path, context);
  const done = await earlier(before, path, context);
  if (done !== null) return done;
  const { after, result } = editFile(before, edits, path);
  const told = (context.secrets?.results ?? ownMasker()).json(result);
  await note({ before: digest(before), after: digest(after), result: told }, context);
  await writeWhole(path, after, context, before);
  return result;
}

interface Noted {
  before: string;
  after: string;
  result: EditResult;
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** One name for all attempts at a step, those that were decided upon included. */
const noteKey = ({ key }: CommandContext): string => `edit ${key.replace(/#\d+$/, '')}`;

/** What an attempt before this one has done; null where it has not come to it. */
async function earlier(found: Buffer, path: string, context: CommandContext): Promise<EditResult | null> {
  if (context.attempt === 1 && !/#\d+$/.test(context.key)) return null;
  const noted = (await context.store.journal.find(context.run.handle, noteKey(context))) as unknown as Noted | null;
  if (noted === null) return null;
  const now = digest(found);
  if (now === noted.after) return noted.result;
  if (now !== noted.before) throw changedMeanwhile(path);
  return null;
}

async function note(noted: Noted, context: CommandContext): Promise<void> {
  await context.store.journal.keep(context.run.handle, noteKey(context), noted as unknown as JsonObject);
}

const simulatedEdit = ({ old, new: replacement, all }: JsonObject): Edit => ({
  old: simulatedText(old),
  new: simulatedText(replacement),
  all: all === true,
});

function predict(params: JsonObject, { files }: SimulatedWorld): Predicted {
  const path = simulatedText(params['path']);
  const edits = Array.isArray(params['edits']) ? params['edits'].filter(isJsonObject) : [params];
  const { after, result } = editFile(files.read(path), edits.map(simulatedEdit), path);
  files.write(path, after);
  return { text: `edits ${path} from line ${result.firstLine}`, source: 'project', result };
}

export const editCommands: Command[] = [
  defineCommand({
    name: 'code/edit',
    description:
      'Replaces passages of a file of the project: each "old" must be there once, and "new" comes in its place; all edits are made, or none.',
    permission: 'write',
    speed: 'long',
    secrets: 'values',
    textField: 'diff',
    textParams: ['old', 'new'],
    failures: {
      PASSAGE_AMBIGUOUS: { title: 'A passage to edit is in the file more than once', retryable: false },
      PASSAGE_NOT_FOUND: { title: 'A passage to edit is not in the file', retryable: false },
    },
    params: Params,
    needs: [['old', 'new'], ['edits']],
    result: Result,
    run: edit,
    predict,
    writes: filesWritten,
  }),
];
