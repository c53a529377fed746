/**
 * A file of the run's project as a whole, for the commands that read and write files. Reading takes files up to
 * the bound of a value; writing is atomic (a reader sees the old content or the new) and the same write again
 * changes nothing.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFile as readDescriptor,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { chmod, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { openFolder, placeOf } from '../../world/confinement/beneath.ts';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { COMMAND_BOUNDS } from '../bounds.ts';
import { shortMark, type CommandContext } from '../command.ts';

const readAll = promisify(readDescriptor) as (descriptor: number) => Promise<Buffer>;

export const readWhole = (path: string, context: CommandContext): Promise<Buffer> =>
  readBounded(resolveInside(rootOf(context), path, accessOf(context)), path);

/**
 * `file`: what `path` leads to. Blocking up to `blockingBytes`: a small file is read in microseconds, a tenth of what the trips to
 * the thread pool would cost. Opened without waiting, so that a named pipe does not hold the worker.
 */
export async function readBounded(file: string, path: string): Promise<Buffer> {
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

/** The file itself; refuses what a run may not write. */
export const checkWritable = (path: string, context: CommandContext): string =>
  resolveInside(rootOf(context), path, accessOf(context, { writes: true }));

/** All that a write of this file touches: also what it leaves where it is interrupted. */
export function filesWritten({ path }: { path: string }, context: CommandContext): string[] {
  const file = relative(resolveInside(rootOf(context), '.'), checkWritable(path, context))
    .split(sep)
    .join('/');
  const name = basename(file);
  return [file, `${file.slice(0, file.length - name.length)}${draftOf(name, context)}`];
}

const draftOf = (name: string, context: CommandContext): string => `.${name.slice(0, 200)}.${shortMark(context)}.tmp`;

/** Whether it had to be changed. `expected`: what it must still hold. */
export async function writeWhole(
  path: string,
  bytes: Buffer,
  context: CommandContext,
  expected?: Buffer,
): Promise<boolean> {
  if (bytes.length > COMMAND_BOUNDS.valueBytesMax) throw tooLarge(path, bytes.length);
  const file = checkWritable(path, context);
  try {
    const root = resolveInside(rootOf(context), '.');
    const folder = openFolder(root, relative(root, dirname(file)).split(sep).join('/'), { create: true });
    if (folder === null) throw new Error('bug: a folder that was made is not there');
    try {
      checkOpened(folder, dirname(file), path);
      // Through its descriptor the folder is the one that was looked at, wherever it is moved to.
      const place = placeOf(folder, dirname(file));
      // One name per run and step: a retry writes over what its predecessor left.
      const name = basename(file);
      const draft = join(place, draftOf(name, context));
      return await replaceFile({ file: join(place, name), draft, path }, bytes, { expected, context });
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    throw fileFailure(error, path);
  }
}

async function replaceFile(
  { file, draft, path }: { file: string; draft: string; path: string },
  bytes: Buffer,
  { expected, context }: { expected: Buffer | undefined; context: CommandContext },
): Promise<boolean> {
  const found = await lstat(file).catch(() => null);
  if (found !== null && !found.isFile())
    throw new Failure('FILE_NOT_USABLE', `"${path}" is ${kindOf(found)}, and not a file; name a file`);
  if (found?.isFile() === true && found.size === bytes.length && (await readFile(file)).equals(bytes)) return false;
  try {
    await rm(draft, { force: true });
    await writeFile(draft, bytes, { flag: 'wx' });
    if (found?.isFile() === true) await chmod(draft, found.mode);
    if (expected !== undefined && !(await readFile(file)).equals(expected)) throw changedMeanwhile(path);
    // An attempt that comes later has removed the draft, so that what stands still right here does nothing either.
    context.checkAttempt?.();
    await rename(draft, file);
    return true;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export const changedMeanwhile = (path: string): Failure =>
  new Failure(
    'FILE_CHANGED',
    `file "${path}" was changed by somebody else while this step edited it; look at it again`,
  );

function tooLarge(path: string, bytes: number): Failure {
  return new Failure(
    'VALUE_TOO_LARGE',
    `file "${path}" has ${bytes} bytes, at most ${COMMAND_BOUNDS.valueBytesMax} fit in a run; use a shell step for larger files`,
  );
}

const kindOf = (found: Stats): string =>
  found.isDirectory()
    ? 'a folder'
    : found.isFIFO()
      ? 'a named pipe'
      : found.isSocket()
        ? 'a socket'
        : 'a device or a link';

/** What the system said, in words, and what helps. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left on the disk; make room there',
  EDQUOT: "the user's quota on the disk is used up; make room there",
  EROFS: 'the file system is read-only; write elsewhere, or mount it for writing',
  EACCES: "the worker's user may not; change its permissions, or those of its folder",
  EPERM: 'the system does not permit it; change its owner, its permissions or its attributes',
  EISDIR: 'it is a folder; name a file',
  ENOTDIR: 'a file stands where its path has a folder; correct the path, or move that file',
  ENAMETOOLONG: 'its name is too long for the file system; choose a shorter one',
  EFBIG: 'it is larger than the worker may write; raise that limit (ulimit -f)',
  EMFILE: 'the worker has too many files open; try again, or raise that limit (ulimit -n)',
  ENFILE: 'the system has too many files open; try again later',
  EIO: 'the disk reports an error; look at the disk',
  ELOOP: 'links lead in a circle, or a link stands in its place; name the file itself',
};

export function fileFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof Failure) return error;
  if (error.code === 'ENOENT')
    return new Failure(
      'FILE_NOT_FOUND',
      `file "${path}" does not exist in the project; create it first or correct the path`,
      { cause: error },
    );
  const code = String(error.code);
  const reason = REASONS[code] ?? 'check that it is a file, and its permissions';
  return new Failure('FILE_NOT_USABLE', `file "${path}" cannot be used (${code}): ${reason}`, { cause: error });
}
