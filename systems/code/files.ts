/** Files of the run's project, as text or bytes. */
import * as z from 'zod';
import { Failure } from '../../world/failures/failures.ts';
import type { JsonObject } from '../../language/json.ts';
import { type Predicted, type SimulatedWorld, simulatedText } from '../../operations/predicted.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { filesWritten, readWhole, writeWhole } from '../../operations/files/whole-file.ts';

const Encoding = z.enum(['utf8', 'base64']);
type Encoding = z.infer<typeof Encoding>;

async function read(
  { path, encoding = 'utf8' }: { path: string; encoding?: Encoding | undefined },
  context: CommandContext,
) {
  const bytes = await readWhole(path, context);
  // Postgres and JSON hold text without NUL; a file with one is not text.
  if (encoding === 'utf8' && bytes.includes(0)) {
    throw new Failure(
      'FILE_NOT_TEXT',
      `file "${path}" holds NUL bytes, so it is not text; read it with encoding "base64"`,
    );
  }
  return { path, content: bytes.toString(encoding), bytes: bytes.length };
}

async function write({ path, content }: { path: string; content: string }, context: CommandContext) {
  const bytes = Buffer.from(content, 'utf8');
  return { path, bytes: bytes.length, changed: await writeWhole(path, bytes, context) };
}

const Path = z.string().min(1);

function predictRead(params: JsonObject, { files }: SimulatedWorld): Predicted {
  const path = simulatedText(params['path']);
  const bytes = files.read(path);
  const encoding = params['encoding'] === 'base64' ? 'base64' : 'utf8';
  return {
    text: `reads ${path} (${bytes.length} bytes)`,
    source: 'project',
    result: { path, content: bytes.toString(encoding), bytes: bytes.length },
  };
}

function predictWrite(params: JsonObject, { files }: SimulatedWorld): Predicted {
  const path = simulatedText(params['path']);
  const { bytes, changed, isNew } = files.write(path, simulatedText(params['content']));
  const deed = isNew ? 'creates' : changed ? 'changes' : 'leaves as it is:';
  return { text: `${deed} ${path} (${bytes} bytes)`, source: 'project', result: { path, bytes, changed } };
}

export const codeCommands: Command[] = [
  defineCommand({
    name: 'code/read',
    description: 'Reads a file of the project, as text, or as base64 for what is no text.',
    permission: 'read',
    speed: 'quick',
    secrets: 'values',
    textField: 'content',
    params: z.strictObject({ path: Path, encoding: Encoding.optional() }),
    result: z.strictObject({ path: z.string(), content: z.string(), bytes: z.number() }),
    run: read,
    predict: predictRead,
  }),
  defineCommand({
    name: 'code/write',
    description: 'Writes a file of the project as a whole; what it held before is gone.',
    permission: 'write',
    speed: 'long',
    secrets: 'values',
    textParams: ['content'],
    params: z.strictObject({ path: Path, content: z.string() }),
    result: z.strictObject({ path: z.string(), bytes: z.number(), changed: z.boolean() }),
    run: write,
    predict: predictWrite,
    writes: filesWritten,
  }),
];
