/** What an index of ours holds, with what git has seen of each file. */
import { statSync } from 'node:fs';
import { CHECKPOINT_BOUNDS } from './bounds.ts';
import { RECORD_ROOT } from './entries.ts';
import { KnownFolder, stampOf, type Stamp } from './known-tree.ts';
import type { ShadowGit } from './shadow-git.ts';

/** Null where it holds more files, or what no state holds. */
export async function readIndex(
  git: ShadowGit,
  filesMax: number,
): Promise<{ root: KnownFolder; files: number } | null> {
  if (!git.hasIndex) return null;
  // Git itself reads a file again that is no older than its index.
  const writtenAt = statSync(git.index).mtimeMs;
  const listed = await git.run(['ls-files', '-s', '-z', '--debug'], { bytesMax: CHECKPOINT_BOUNDS.listBytesMax });
  const root = new KnownFolder();
  let files = 0;
  for (let at = 0; at < listed.length;) {
    const end = listed.indexOf(0, at);
    const [entry, path] = splitOnce(listed.toString('utf8', at, end), '\t');
    const [mode = '', blob = '', stage] = entry.split(' ');
    const next = endOfSeen(listed, end + 1);
    const stamp = stampIn(listed.toString('latin1', end + 1, next));
    files += 1;
    if (stage !== '0' || stamp === null || files > filesMax) return null;
    const names = path.split('/');
    const name = names.pop() ?? '';
    let folder = root;
    for (const one of names) folder = folder.folder(one);
    folder.files.set(name, { mode, blob, stamp: stampOf(stamp, writtenAt) });
    at = next;
  }
  const record = root.folders.get(RECORD_ROOT);
  if (record !== undefined) record.isApart = true;
  return { root, files };
}

/** Behind each name five lines of what was seen of the file. */
function endOfSeen(listed: Buffer, from: number): number {
  let at = from;
  for (let line = 0; line < 5; line += 1) at = listed.indexOf(0x0a, at) + 1;
  return at;
}

function stampIn(seen: string): Stamp | null {
  const found =
    /ctime: (\d+):(\d+)\s+mtime: (\d+):(\d+)\s+dev: \d+\s+ino: (\d+)\s+uid: \d+\s+gid: \d+\s+size: (\d+)/.exec(seen);
  if (found === null) return null;
  const [ctimeS = 0, ctimeNs = 0, mtimeS = 0, mtimeNs = 0, ino = 0, size = 0] = found.slice(1).map(Number);
  return { ino, size, mtimeMs: mtimeS * 1000 + mtimeNs / 1e6, ctimeMs: ctimeS * 1000 + ctimeNs / 1e6 };
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return [text.slice(0, at), text.slice(at + mark.length)];
}
