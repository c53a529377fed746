/** What a check found: each failure with its place, where the tool says one. */
import { isAbsolute, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

export type Finding = {
  /** From the project. */
  file?: string;
  line?: number;
  column?: number;
  message: string;
  /** Names of the suites and of the test. */
  test?: string;
};

/** A test that was run, or left out, and how it ended. */
export type TestCase = {
  /** Names of the suites and of the test: the same as `test` of what it failed of. */
  test: string;
  status: 'passed' | 'failed' | 'skipped';
  /** From the project, where the tool says so. */
  file?: string;
};

export interface Parsed {
  findings: Finding[];
  /** Every test; absent where the tool names none. */
  cases?: TestCase[];
  /** What stands for its output where that is for machines. */
  shown?: string;
}

export interface Where {
  /** The project. */
  root: string;
  /** Where the tool ran, from the project; empty for the project itself. */
  folder: string;
}

/** What a process printed, and where it ran. */
export interface Printed extends Where {
  stdout: string;
  stderr: string;
  output: string;
  exitCode: number;
}

/** A path as a tool prints it, from the project; undefined where it leads elsewhere. */
export function projectPath(printed: string, { root, folder }: Where): string | undefined {
  const path = printed.startsWith('file://') ? fromUrl(printed) : printed;
  const way = isAbsolute(path) ? relative(root, path) : normalize(join(folder, path));
  if (way === '' || way.startsWith('..') || isAbsolute(way)) return undefined;
  return way.split(sep).join('/');
}

/** An address that is none is a path that leads nowhere. */
function fromUrl(printed: string): string {
  try {
    return fileURLToPath(printed);
  } catch {
    return printed;
  }
}

export interface Spot {
  file: string;
  line: number;
  column?: number;
}

const FRAME =
  /(?:\(|\bat (?:async )?|^\s*❯ (?:\S+ )?)((?:file:\/\/)?[^\s():]+(?:[^():\n]*[^\s():])?):(\d+):(\d+)\)?(?: \{)?\s*$/;
/** A longer line is no frame, and would take long to look at. */
const frameLengthMax = 2_000;

/** The first frame of a JavaScript stack that is in the project's own code. */
export function frameIn(text: string, where: Where): Spot | undefined {
  for (const row of text.split('\n')) {
    if (row.length > frameLengthMax) continue;
    const [, printed = '', line, column] = FRAME.exec(row) ?? [];
    if (line === undefined || printed.startsWith('node:')) continue;
    const file = projectPath(printed, where);
    if (file !== undefined && !file.split('/').includes('node_modules'))
      return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** The place that is known, with its fields left out where nothing is. */
export const spotOf = (file: string | undefined, line?: number, column?: number): Partial<Spot> =>
  file === undefined
    ? {}
    : {
        file,
        ...(line === undefined || Number.isNaN(line) ? {} : { line }),
        ...(line === undefined || column === undefined || Number.isNaN(column) ? {} : { column }),
      };

export const plainText = stripVTControlCharacters;
