/**
 * A changeset and a bundle of files as text (`dogs.md`, `cats.md`): for each file a block that says what it is about, and
 * after it a block with its content. Reading what was written gives the same, byte for byte.
 */
import { defined } from '../../../language/defined.ts';
import type { Problem } from './check.ts';
import { type Changeset, KINDS, MODES, type Operation } from './changeset.ts';
import { fence, type Fenced, fencesOf, fieldsOf } from './fences.ts';

const CHANGE = 'paws-change';
const FILE = 'vfs-file';

export interface BundledFile {
  path: string;
  content: string;
  /** Absent: it is text. */
  encoding?: 'base64';
}

export interface Bundle {
  reason: string;
  files: BundledFile[];
}

export function dogsOf({ operations }: Changeset): string {
  const blocks = operations.map(({ operation, path, mode, reason, content, base64 }) => {
    const fields = [`operation: ${operation}`, `file_path: ${path}`];
    if (reason !== undefined) fields.push(`reason: ${reason.replaceAll(/\s+/g, ' ').trim()}`);
    if (mode !== undefined) fields.push(`mode: ${mode}`);
    if (base64 !== undefined) fields.push('encoding: base64');
    const body = content ?? base64;
    return `${block(CHANGE, fields)}${body === undefined ? '' : fence('', body)}`;
  });
  return `## PAWS Change Proposal (dogs.md)\n\n${blocks.join('\n')}`;
}

export function catsOf({ reason, files }: Bundle): string {
  const head = `## PAWS Context Bundle (cats.md)\n\n**Reason:** ${reason.replaceAll(/\s+/g, ' ').trim()}\n\n**Files:** ${files.length}\n\n---\n\n`;
  const blocks = files.map(({ path, content, encoding }) => {
    const fields = [`path: ${path}`, ...(encoding === undefined ? [] : [`encoding: ${encoding}`])];
    return `### File: ${path}\n\n${block(FILE, fields)}\n${fence('', content)}`;
  });
  return `${head}${blocks.join('\n')}`;
}

/** What the block is about stands in a fence of three, as the readers of others look for it. */
const block = (info: string, fields: readonly string[]): string => `\`\`\`${info}\n${fields.join('\n')}\n\`\`\`\n`;

export interface Parsed<What> {
  value: What;
  /** With the line of the text as `path`, where a block names none. */
  problems: Problem[];
}

export function parseDogs(text: string): Parsed<Changeset> {
  const { blocks, problems } = pairsIn(text, CHANGE);
  const operations: Operation[] = [];
  for (const { fields, content, line } of blocks) {
    const operation = KINDS.find((kind) => kind === fields.get('operation')?.toUpperCase());
    const path = fields.get('file_path') ?? '';
    const mode = fields.get('mode');
    const why =
      operation === undefined
        ? `has no operation; write one of ${KINDS.join(', ')}`
        : path === ''
          ? 'has no file_path'
          : mode !== undefined && !isMode(mode)
            ? `has the mode "${mode}"; write one of ${MODES.join(', ')}`
            : operation === 'DELETE' || content !== null || mode !== undefined
              ? null
              : 'has no content after it';
    if (why !== null || operation === undefined) {
      problems.push({ path: path === '' ? `line ${line}` : path, why: `the block at line ${line} ${why ?? ''}` });
      continue;
    }
    const isBinary = fields.get('encoding') === 'base64';
    const held = operation === 'DELETE' ? null : content;
    operations.push({
      operation,
      path: path.replace(/^\//, ''),
      ...defined({
        mode: mode !== undefined && isMode(mode) ? mode : undefined,
        reason: fields.get('reason'),
        content: isBinary ? undefined : (held ?? undefined),
        base64: isBinary ? (held ?? undefined) : undefined,
      }),
    });
  }
  return { value: { operations }, problems };
}

const isMode = (mode: string): mode is (typeof MODES)[number] => (MODES as readonly string[]).includes(mode);

export function parseCats(text: string): Parsed<Bundle> {
  const { blocks, problems } = pairsIn(text, FILE);
  const files: BundledFile[] = [];
  for (const { fields, content, line } of blocks) {
    const path = fields.get('path') ?? '';
    if (path === '' || content === null)
      problems.push({
        path: path === '' ? `line ${line}` : path,
        why: `the block at line ${line} has no ${path === '' ? 'path' : 'content after it'}`,
      });
    else files.push({ path, content, ...(fields.get('encoding') === 'base64' ? { encoding: 'base64' as const } : {}) });
  }
  const [, reason = ''] = /\*\*Reason:\*\*[ \t]*(.+)/.exec(text) ?? [];
  return { value: { reason: reason.trim(), files }, problems };
}

interface Pair {
  fields: Map<string, string>;
  /** Null: the next block is another that says something, or there is none. */
  content: string | null;
  line: number;
}

function pairsIn(text: string, info: string): { blocks: Pair[]; problems: Problem[] } {
  const { fenced, broken } = fencesOf(text);
  const problems: Problem[] =
    broken === null ? [] : [{ path: `line ${broken}`, why: `the fence at line ${broken} is never closed` }];
  const blocks: Pair[] = [];
  for (const [at, one] of fenced.entries()) {
    if (one.info !== info) continue;
    const next = fenced[at + 1];
    const content = next === undefined || isAbout(next) ? null : next.body;
    blocks.push({ fields: fieldsOf(one.body), content, line: one.line });
  }
  if (blocks.length === 0 && problems.length === 0)
    problems.push({ path: '', why: `the text holds no block "${info}"` });
  return { blocks, problems };
}

const isAbout = ({ info }: Fenced): boolean => info === CHANGE || info === FILE;
