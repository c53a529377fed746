/** The bytes of a file as edits leave them, and what the command that makes them says of it. */
import { createTwoFilesPatch } from 'diff';
import { Failure } from '../../../world/failures/failures.ts';
import { applyEdits, type Edit } from './apply-edits.ts';

export type EditResult = {
  path: string;
  edits: number;
  /** The first line that is another one now, from 1. */
  firstLine: number;
  diff: string;
};

/** Lines that a diff may differ in. */
const diffEditsMax = 20_000;

export function editFile(before: Buffer, edits: readonly Edit[], path: string): { after: Buffer; result: EditResult } {
  const [mark, text] = textOf(before, path);
  const edited = applyEdits(text, edits, path);
  return {
    after: Buffer.from(mark + edited, 'utf8'),
    result: {
      path,
      edits: edits.length,
      firstLine: firstDifference(text, edited),
      diff: diffOf(path, text, edited),
    },
  };
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Its byte order mark, and what comes after it. */
function textOf(bytes: Buffer, path: string): [string, string] {
  const text = bytes.includes(0) ? null : decoded(bytes);
  if (text === null)
    throw new Failure('FILE_NOT_TEXT', `file "${path}" is no text in UTF-8; write it as a whole, or with a shell step`);
  return text.startsWith(BYTE_ORDER_MARK) ? [BYTE_ORDER_MARK, text.slice(1)] : ['', text];
}

function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Of the first line that is another one, from 1. */
function firstDifference(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  return after.slice(0, at).split('\n').length;
}

function diffOf(path: string, before: string, after: string): string {
  const diff = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: diffEditsMax,
  });
  return diff === undefined ? `${path} was changed in more lines than a diff shows` : diff.replace(/^=+\n/, '');
}
