/** What `git status --porcelain=v2 --branch` says, as values. */

export type FileStatus = {
  path: string;
  /** One letter each, as git has them; a dot where nothing changed, `?` where git does not know the file. */
  index: string;
  workTree: string;
  /** Where it was, for a file that was renamed or copied. */
  from?: string;
};

export type WorkTreeStatus = {
  /** Null where HEAD is at no branch. */
  branch: string | null;
  commit: string | null;
  upstream: string | null;
  ahead: number;
  behind: number;
  files: FileStatus[];
};

export function readStatus(text: string): WorkTreeStatus {
  const status: WorkTreeStatus = { branch: null, commit: null, upstream: null, ahead: 0, behind: 0, files: [] };
  for (const line of text.split('\n').filter(Boolean)) {
    if (line.startsWith('# ')) readHeader(line, status);
    else if (line.startsWith('? ')) status.files.push({ path: plainPath(line.slice(2)), index: '?', workTree: '?' });
    else if (line.startsWith('1 ')) status.files.push(fileOf(line, 8));
    else if (line.startsWith('u ')) status.files.push(fileOf(line, 10));
    else if (line.startsWith('2 ')) {
      const [moved = '', from = ''] = line.split('\t');
      status.files.push({ ...fileOf(moved, 9), from: plainPath(from) });
    }
  }
  return status;
}

function readHeader(text: string, status: WorkTreeStatus): void {
  const [, name, ...values] = text.split(' ');
  const value = values.join(' ');
  if (name === 'branch.head') status.branch = value === '(detached)' ? null : value;
  if (name === 'branch.oid') status.commit = value === '(initial)' ? null : value;
  if (name === 'branch.upstream') status.upstream = value;
  if (name === 'branch.ab') [status.ahead = 0, status.behind = 0] = values.map((count) => Math.abs(Number(count)));
}

/** The path is what comes after so many fields; it may hold spaces. */
function fileOf(text: string, fields: number): FileStatus {
  const parts = text.split(' ');
  const [index = '.', workTree = '.'] = parts[1] ?? '';
  return { path: plainPath(parts.slice(fields).join(' ')), index, workTree };
}

const ESCAPES: Record<string, string> = { a: '\u0007', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** Git quotes a path with control characters, quotes or backslashes as C does. */
function plainPath(text: string): string {
  if (!text.startsWith('"')) return text;
  return text
    .slice(1, -1)
    .replaceAll(/\\(?:([0-7]{3})|(.))/g, (_all, octal: string | undefined, letter: string) =>
      octal === undefined ? (ESCAPES[letter] ?? letter) : String.fromCodePoint(Number.parseInt(octal, 8)),
    );
}
