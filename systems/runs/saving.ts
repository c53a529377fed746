/** `sentinel/create`: a definition that a run drafts, or a file of the project holds, becomes one that can be run by its id. */
import { join } from 'node:path';
import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { parseDefinition, parseDefinitionText, type ReadOptions } from '../../language/read/definition.ts';
import { formatOf, readDefinitionText } from '../../language/read/text/definition-text.ts';
import { problemsInWords } from '../../language/read/remedies/problems-in-words.ts';
import { droppedWarning } from '../../language/read/draft/draft-keys.ts';
import { accessOf, rootOf } from '../../world/confinement/confine.ts';
import { refFiles } from '../../world/definitions/ref-files.ts';
import { Failure } from '../../world/failures/failures.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { definitionValue, readBrought, savingOf } from '../../operations/brought-definition.ts';

const Fields = z.record(z.string(), Value);
const Params = z.union(
  [
    z.strictObject({ file: z.string().min(1) }),
    z.strictObject({ definition: z.union([z.string().min(1), Fields]) }),
    z.looseObject({ name: z.string().min(1), steps: z.union([z.array(Value).min(1), Fields]) }),
  ],
  'must hold one of: file, a path in the project; definition; name and steps, with what else a definition has beside them',
);
type Params = z.infer<typeof Params>;

async function create(params: Params, context: Context): Promise<JsonObject> {
  const { written, isDraft } = await writtenIn(params as JsonObject, context);
  const { definition, dropped } = await readBrought(written, context, { isDraft });
  const { definitions } = context.store;
  // A name is a person's to move: what a model stores is found by its id.
  const isModels = context.confinement?.byModel === true;
  const { hash, name, version } = await (isModels
    ? definitions.keep(definition)
    : definitions.publish(definition, savingOf(context)));
  return { id: hash, name, version, ...(dropped.length === 0 ? {} : { warnings: [droppedWarning(dropped)] }) };
}

/** A draft may say more of itself than a definition; a file is read as it stands. */
async function writtenIn(params: JsonObject, context: Context): Promise<{ written: Json; isDraft: boolean }> {
  const { file, definition, ...fields } = params;
  if (typeof file === 'string') {
    const read = await context.call('code/read', { path: file });
    return { written: inFile(file, isJsonObject(read) ? read['content'] : null, context), isDraft: false };
  }
  if (definition === undefined) return { written: { loop: { type: 'once' }, ...fields }, isDraft: true };
  const draft = typeof definition === 'string' ? definitionValue(definition, '"definition"') : definition;
  return { written: draft, isDraft: true };
}

/** With the files that it names by their paths in place of these; what else it names is looked for afterwards. */
function inFile(file: string, content: Json | undefined, context: Context): Json {
  const { catalogue } = context.commands;
  const text = typeof content === 'string' ? content : '';
  const project = rootOf(context);
  const options: ReadOptions = {
    catalogue,
    knownRefs: (name) => ({ name, steps: [], loop: { type: 'once' } }),
    isBounded: true,
    files: refFiles(join(project, file), project, accessOf(context)),
  };
  const isText = readDefinitionText(text, formatOf(file)).ok;
  const read = isText
    ? parseDefinitionText(text, options, formatOf(file))
    : parseDefinition(definitionValue(text, `"${file}"`), options);
  if (read.ok) return read.definition as unknown as JsonObject;
  const placed = read.problems.map((problem) => ({ ...problem, file: problem.file ?? file }));
  throw new Failure('DEFINITION_INVALID', problemsInWords(placed));
}

const Saved = z.strictObject({
  id: z.string(),
  name: z.string(),
  version: z.number(),
  warnings: z.array(z.string()).exactOptional().describe('what of a draft was left out'),
});

export const savingCommands: Command[] = [
  defineCommand({
    name: 'sentinel/create',
    description: 'Checks and stores a definition, so that it can be run by its id or its name.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'defines',
    // Their references belong to the run that will read them.
    programParams: [
      'definition',
      'steps',
      'loop',
      'always',
      'trigger',
      'safety',
      'inputs',
      'escalateOn',
      'recipe',
      'ragSources',
    ],
    definitionFile: { file: 'file', definition: 'definition' },
    params: Params,
    result: Saved,
    run: create,
  }),
];
