/** A file that an option names, written piece by piece: whoever reads it meanwhile sees the old one or the new one. */
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { usage } from '../request/usage.ts';

export async function writeWholeFile(
  option: string,
  file: string,
  pieces: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  const writing = <Result>(write: () => Result): Result => {
    try {
      return write();
    } catch (error) {
      throw usage(
        `${option} ${file} cannot be written (${error instanceof Error ? error.message : String(error)}); give a file in a folder that exists.`,
      );
    }
  };
  const draft = `${file}.${process.pid}.tmp`;
  try {
    const open = writing(() => openSync(draft, 'w'));
    try {
      for await (const piece of pieces) writing(() => writeFileSync(open, piece));
    } finally {
      closeSync(open);
    }
    writing(() => renameSync(draft, file));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
