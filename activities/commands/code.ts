/**
 * Files of the run's project. Reading takes files up to the bound of a value; writing is atomic
 * (a reader sees the old content or the new) and the same write again changes nothing.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFile as readDescriptor,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { chmod, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { Failure } from '../failures/failures.ts';
import { COMMAND_BOUNDS } from './bounds.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { accessOf, resolveInside } from '../confinement/confine.ts';

const readAll = promisify(readDescriptor) as (descriptor: number) => Promise<Buffer>;

const Encoding = z.enum(['utf8', 'base64']);
type Encoding = z.infer<typeof Encoding>;

async function read(
  { path, encoding = 'utf8' }: { path: string; encoding?: Encoding | undefined },
  context: CommandContext,
) {
  const bytes = await readBounded(resolveInside(context.run.project, path, accessOf(context)), path);
  // Postgres and JSON hold text without NUL; a file with one is not text.
  if (encoding === 'utf8' && bytes.includes(0)) {
    throw new Failure(
      'FILE_NOT_TEXT',
      `file "${path}" holds NUL bytes, so it is not text; read it with encoding "base64"`,
    );
  }
  return { path, content: bytes.toString(encoding), bytes: bytes.length };
}

/**
 * Blocking up to `blockingBytes`: a small file is read in microseconds, a tenth of what the trips to
 * the thread pool would cost. Opened without waiting, so that a named pipe does not hold the worker.
 */
async function readBounded(file: string, path: string): Promise<Buffer> {
  const descriptor = openFile(file, path);
  try {
    checkOpened(descriptor, file, path);
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new Failure('FILE_NOT_USABLE', `"${path}" is not a file; name a file`);
    if (found.size > COMMAND_BOUNDS.valueBytesMax) throw tooLarge(path, found.size);
    return found.size <= COMMAND_BOUNDS.blockingBytes ? readFileSync(descriptor) : await readAll(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function openFile(file: string, path: string): number {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    throw fileFailure(error, path);
  }
}

/**
 * Between the look at a path and its opening a process of the run may put a link in its place. What was
 * opened says where it is, on Linux; elsewhere no mode holds processes in.
 */
function checkOpened(descriptor: number, place: string, path: string): void {
  if (process.platform !== 'linux' || readlinkSync(`/proc/self/fd/${descriptor}`) === place) return;
  throw new Failure(
    'PATH_OUTSIDE_PROJECT',
    `path "${path}" was moved while it was opened; write or read it when nothing moves it`,
  );
}

async function write({ path, content }: { path: string; content: string }, context: CommandContext) {
  const bytes = Buffer.from(content, 'utf8');
  if (bytes.length > COMMAND_BOUNDS.valueBytesMax) throw tooLarge(path, bytes.length);
  const file = resolveInside(context.run.project, path, accessOf(context, { writes: true }));
  try {
    await mkdir(dirname(file), { recursive: true });
    const folder = openSync(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      checkOpened(folder, dirname(file), path);
      // Through its descriptor the folder is the one that was looked at, wherever it is moved to.
      const place = process.platform === 'linux' ? `/proc/self/fd/${folder}` : dirname(file);
      // One name per run and step: a retry writes over what its predecessor left.
      const mark = createHash('sha256').update(`${context.run.handle}:${context.key}`).digest('hex').slice(0, 12);
      const name = basename(file);
      const changed = await replaceFile(join(place, name), join(place, `.${name.slice(0, 200)}.${mark}.tmp`), bytes);
      return { path, bytes: bytes.length, changed };
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    throw fileFailure(error, path);
  }
}

/** Whether it had to be changed. */
async function replaceFile(file: string, draft: string, bytes: Buffer): Promise<boolean> {
  const found = await lstat(file).catch(() => null);
  if (found?.isFile() === true && found.size === bytes.length && (await readFile(file)).equals(bytes)) return false;
  try {
    await rm(draft, { force: true });
    await writeFile(draft, bytes, { flag: 'wx' });
    if (found?.isFile() === true) await chmod(draft, found.mode);
    await rename(draft, file);
    return true;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function tooLarge(path: string, bytes: number): Failure {
  return new Failure(
    'VALUE_TOO_LARGE',
    `file "${path}" has ${bytes} bytes, at most ${COMMAND_BOUNDS.valueBytesMax} fit in a run; use a shell step for larger files`,
  );
}

function fileFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ENOENT')
    return new Failure(
      'FILE_NOT_FOUND',
      `file "${path}" does not exist in the project; create it first or correct the path`,
      { cause: error },
    );
  return new Failure(
    'FILE_NOT_USABLE',
    `file "${path}" cannot be used (${String(error.code)}); check that it is a file, and its permissions`,
    { cause: error },
  );
}

const Path = z.string().min(1);

export const codeCommands: Command[] = [
  defineCommand({
    name: 'code/read',
    description: 'Reads a file of the project, as text, or as base64 for what is no text.',
    permission: 'read',
    speed: 'quick',
    textField: 'content',
    params: z.strictObject({ path: Path, encoding: Encoding.optional() }),
    result: z.strictObject({ path: z.string(), content: z.string(), bytes: z.number() }),
    run: read,
  }),
  defineCommand({
    name: 'code/write',
    description: 'Writes a file of the project as a whole; what it held before is gone.',
    permission: 'write',
    speed: 'long',
    textParams: ['content'],
    params: z.strictObject({ path: Path, content: z.string() }),
    result: z.strictObject({ path: z.string(), bytes: z.number(), changed: z.boolean() }),
    run: write,
  }),
];
