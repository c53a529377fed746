/**
 * Folders of processes that are over, for those that come next. To make a file costs a disk far more than to write
 * one that there is; and what has been prepared under another name is there whole, or not at all.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** What the names of folders end with that are nobody's. */
export const SPARE = '.spare';
const SPARES_MAX = 16;
/** A folder that holds anything else is not used again. */
const LEFT = /^(?:started|who|outcome|out|err|closed|read|reason|claim-\d+)$/;
const GOES = /^(?:closed|read|reason|claim-\d+)$/;

let made = 0;

export class KeptSpares {
  #paths: string[] = [];

  /** A folder with this text in this file, under a name that only its maker knows. */
  prepare(host: string, file: string, text: string): string {
    const spare = this.#paths.findLast((path) => dirname(path) === host);
    this.#paths = this.#paths.filter((path) => path !== spare);
    if (spare !== undefined) {
      try {
        return written(spare, file, text);
      } catch {
        // Somebody has tidied up.
        rmSync(spare, { recursive: true, force: true });
      }
    }
    const path = nameIn(host);
    mkdirSync(path, { mode: 0o700 });
    try {
      return written(path, file, text);
    } catch (error) {
      rmSync(path, { recursive: true, force: true });
      throw error;
    }
  }

  /** False where the folder is not to be used again. It is gone at once for whoever looks for it. */
  give(path: string, keeperPid: number | undefined): boolean {
    // What is left of a keeper might still write.
    if (keeperPid === undefined || existsSync(`/proc/${keeperPid}`) || this.#paths.length >= SPARES_MAX) return false;
    const spare = nameIn(dirname(path));
    try {
      const names = readdirSync(path);
      if (!names.every((name) => LEFT.test(name)) || !names.includes('outcome')) return false;
      renameSync(path, spare);
      for (const name of names) if (GOES.test(name)) unlinkSync(join(spare, name));
      for (const name of ['who', 'outcome']) renameSync(join(spare, name), join(spare, `${name}.new`));
      for (const name of ['out', 'err', 'started']) truncateSync(join(spare, name));
    } catch {
      rmSync(spare, { recursive: true, force: true });
      return !existsSync(path);
    }
    this.#paths.push(spare);
    return true;
  }

  close(): void {
    for (const path of this.#paths.splice(0)) rmSync(path, { recursive: true, force: true });
  }
}

function nameIn(host: string): string {
  made += 1;
  return join(host, `${process.pid}-${made}${SPARE}`);
}

function written(path: string, file: string, text: string): string {
  writeFileSync(join(path, file), text, { mode: 0o600 });
  return path;
}
