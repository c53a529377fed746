/** Finding one's way in the project: lines that match, and which files there are. */
import * as z from 'zod';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { holds, placeOf, readable, ripgrep } from './ripgrep.ts';

const Path = z.string().min(1);
const Globs = z.union([z.string().min(1), z.array(z.string().min(1))]);
const Pattern = z.union([
  z.string().min(1).describe('a regular expression'),
  z.array(z.string().trim().min(1)).min(1).describe('words, any of which counts, whatever their case'),
]);

const SearchParams = z.strictObject({
  pattern: Pattern,
  glob: Globs.optional().describe('only files like these, for instance "*.ts"; "!" in front leaves them out'),
  path: Path.optional().describe('a folder or a file of the project'),
  ignoreCase: z.boolean().optional(),
  limit: z.number().int().positive().max(COMMAND_BOUNDS.matchesMax).optional(),
});

const Match = z.strictObject({ path: z.string(), line: z.number(), text: z.string() });
type Match = z.infer<typeof Match>;

const listed = (globs: string | string[] | undefined): string[] =>
  globs === undefined ? [] : typeof globs === 'string' ? [globs] : globs;

async function search(
  { pattern, glob, path = '.', ignoreCase, limit = COMMAND_BOUNDS.matches }: z.infer<typeof SearchParams>,
  context: CommandContext,
) {
  const patterns = typeof pattern === 'string' ? [pattern] : pattern;
  const ignoresCase = ignoreCase ?? typeof pattern !== 'string';
  const args = [
    ...LINES,
    `--max-filesize=${COMMAND_BOUNDS.searchedBytesMax}`,
    ...(typeof pattern === 'string' ? [] : ['--fixed-strings']),
    ...(ignoresCase ? ['--ignore-case'] : []),
    ...patterns.map((each) => `--regexp=${each}`),
  ];
  const mayRead = readable(context);
  const isIn = holds(context);
  const matches: Match[] = [];
  for await (const line of ripgrep({ args, path, globs: listed(glob) }, context)) {
    const match = matchIn(line);
    if (match === undefined || !mayRead(match.path) || !(await isIn(match.path, match.text))) continue;
    if (matches.length === limit) return { matches, truncated: true };
    matches.push({ ...match, text: shown(match.text) });
  }
  return { matches, truncated: false };
}

/**
 * The path, a NUL, the number of the line, and its beginning. In ripgrep's JSON each place in a line that matches would
 * be an object of its own, which of a long line and a short pattern makes fifty times the file.
 */
const LINES: readonly string[] = [
  '--with-filename',
  '--no-heading',
  '--line-number',
  '--null',
  '--max-columns-preview',
  `--max-columns=${4 * COMMAND_BOUNDS.lineLengthMax}`,
];
const FOUND = /^([^\0]+)\0(\d+):(.*)$/s;
/** What ripgrep puts behind the beginning of a long line. */
const REST = / \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]$/;

/** What is no text, and what ripgrep says of files that hold none, is passed over. */
function matchIn(row: string): Match | undefined {
  const [, path, line, text = ''] = FOUND.exec(row) ?? [];
  if (path === undefined || text.includes('\uFFFD')) return undefined;
  const isLong = text.length > COMMAND_BOUNDS.lineLengthMax;
  return { path: plain(path), line: Number(line), text: isLong ? text.replace(REST, '') : text };
}

const plain = (path: string): string => path.replace(/^\.\//, '');

function shown(text: string): string {
  const line = text.replace(/\r?\n$/, '').replaceAll('\0', '');
  return line.length > COMMAND_BOUNDS.lineLengthMax ? `${line.slice(0, COMMAND_BOUNDS.lineLengthMax)}…` : line;
}

const TreeParams = z.strictObject({
  path: Path.optional().describe('a folder of the project'),
  depth: z.number().int().positive().max(COMMAND_BOUNDS.depthMax).optional(),
});

interface Folder {
  files: string[];
  folders: Map<string, Folder>;
  /** Below it, however deep. */
  count: number;
}

async function tree({ path = '.', depth = COMMAND_BOUNDS.depth }: z.infer<typeof TreeParams>, context: CommandContext) {
  const mayRead = readable(context);
  const root: Folder = { files: [], folders: new Map(), count: 0 };
  const { below } = placeOf(context, path);
  for await (const line of ripgrep({ args: ['--files'], path }, context)) {
    const file = plain(line);
    if (!mayRead(file)) continue;
    if (root.count === COMMAND_BOUNDS.treeFilesMax)
      return { structure: drawn(root, depth), files: root.count, truncated: true };
    place(root, (below === '' ? file : file.slice(below.length + 1)).split('/'));
  }
  return { structure: drawn(root, depth), files: root.count, truncated: false };
}

function place(root: Folder, way: string[]): void {
  let at = root;
  at.count += 1;
  for (const name of way.slice(0, -1)) {
    const inner = at.folders.get(name) ?? { files: [], folders: new Map(), count: 0 };
    at.folders.set(name, inner);
    inner.count += 1;
    at = inner;
  }
  at.files.push(way.at(-1) ?? '');
}

/** Folders first, two spaces a level; a folder past the depth says how many files it holds. */
function drawn({ folders, files }: Folder, depth: number, indent = ''): string {
  const inner = [...folders].map(([name, folder]) =>
    depth > 1
      ? `${indent}${name}/\n${drawn(folder, depth - 1, `${indent}  `)}`
      : `${indent}${name}/ (${folder.count} ${folder.count === 1 ? 'file' : 'files'})\n`,
  );
  return [...inner, ...files.map((name) => `${indent}${name}\n`)].join('');
}

export const searchCommands: Command[] = [
  defineCommand({
    name: 'code/search',
    description: 'Finds the lines of the project that match a regular expression, or that hold any of a list of words.',
    permission: 'read',
    speed: 'long',
    secrets: 'values',
    params: SearchParams,
    result: z.strictObject({ matches: z.array(Match), truncated: z.boolean() }),
    run: search,
  }),
  defineCommand({
    name: 'code/tree',
    description: 'Shows which folders and files the project has, without those that git ignores.',
    permission: 'read',
    speed: 'long',
    secrets: 'values',
    textField: 'structure',
    params: TreeParams,
    result: z.strictObject({ structure: z.string(), files: z.number(), truncated: z.boolean() }),
    run: tree,
  }),
];
