/**
 * The files of a project as a run would leave them: what is read comes from the project, what is
 * written stays here. Paths are confined as the commands confine them.
 */
import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { type Access, resolveInside } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { valueBytesMax } from '../../language/limits.ts';

export interface FileChange {
  path: string;
  change: 'created' | 'changed';
  /** A unified diff, or a sentence where there is none to show. */
  diff: string;
}

export class Overlay {
  readonly #project: string;
  readonly #written = new Map<string, Buffer>();

  constructor(project: string) {
    this.#project = project;
  }

  /** Throws `Failure`, with the codes of `code/read`. */
  read(path: string, access: Access): Buffer {
    const file = resolveInside(this.#project, path, access);
    const bytes = this.#written.get(file) ?? onDisk(file, path);
    if (bytes === null)
      throw new Failure(
        'FILE_NOT_FOUND',
        `file "${path}" does not exist in the project; create it first or correct the path`,
      );
    return bytes;
  }

  write(path: string, content: string | Buffer, access: Access): { bytes: number; changed: boolean; isNew: boolean } {
    const file = resolveInside(this.#project, path, { ...access, writes: true });
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
    const before = this.#written.get(file) ?? onDisk(file, path);
    this.#written.set(file, bytes);
    return { bytes: bytes.length, changed: before?.equals(bytes) !== true, isNew: before === null };
  }

  /** Throws where the path leads out of the project. */
  check(path: string, access: Access): void {
    resolveInside(this.#project, path, access);
  }

  /** What the project's files would be at the end against what they are. */
  changes(): FileChange[] {
    return [...this.#written].flatMap(([file, after]): FileChange[] => {
      const path = relative(resolveInside(this.#project, '.'), file);
      const before = onDisk(file, path);
      if (before?.equals(after) === true) return [];
      return [{ path, change: before === null ? 'created' : 'changed', diff: diffOf(path, before, after) }];
    });
  }
}

function onDisk(file: string, path: string): Buffer | null {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw new Failure('FILE_NOT_USABLE', `"${path}" is not a file; name a file`);
  if (found.size > valueBytesMax)
    throw new Failure(
      'VALUE_TOO_LARGE',
      `file "${path}" has ${found.size} bytes, at most ${valueBytesMax} fit in a run; use a shell step for larger files`,
    );
  return readFileSync(file);
}

/** Files above this are not compared line by line. */
const diffBytesMax = 256 * 1024;

function diffOf(path: string, before: Buffer | null, after: Buffer): string {
  const old = before ?? Buffer.alloc(0);
  if (old.includes(0)) return 'the file is not text';
  if (old.length + after.length > diffBytesMax) return `${old.length} bytes become ${after.length}`;
  const patch = createTwoFilesPatch(
    before === null ? '/dev/null' : path,
    path,
    old.toString('utf8'),
    after.toString('utf8'),
    undefined,
    undefined,
    { context: 3 },
  );
  return patch
    .split('\n')
    .filter((line) => !/^(?:Index: .*|=+|\\ No newline.*)$/.test(line))
    .join('\n')
    .trimEnd();
}
