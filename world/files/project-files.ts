/** The files of a project that somebody may want to read: by name or by pattern, without what git ignores. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ignore } from 'ignore';
import { eventMatcher } from '../../language/events/event-glob.ts';
import { ignoreRules } from './ignore-rules.ts';
import { plainText } from './plain-file.ts';

/** Folders that hold nothing that a person wrote. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'build', 'target', 'coverage', '__pycache__']);
const visitedMax = 50_000;

export interface ListedFiles {
  /** Relative to the project, with `/` between folders, in order. */
  paths: string[];
  /** There are more than could be looked at. */
  isPart: boolean;
}

/** Hidden files and folders are left out. */
export async function projectFiles(project: string): Promise<ListedFiles> {
  const ignored = ignoredIn(project);
  const paths: string[] = [];
  const waiting = [''];
  let visited = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await readdir(join(project, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      visited += 1;
      if (visited > visitedMax) return { paths: paths.toSorted(), isPart: true };
      if (entry.name.startsWith('.')) continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name) && !ignored.ignores(`${path}/`)) waiting.push(path);
      } else if (entry.isFile() && !ignored.ignores(path)) paths.push(path);
    }
  }
  return { paths: paths.toSorted(), isPart: false };
}

const ignoredIn = (project: string): Ignore => ignoreRules(plainText(join(project, '.gitignore')) ?? '');

export const isFileGlob = (pattern: string): boolean => pattern.includes('*');

/** `*` is any text within a name, `**` any folders. */
export function fileMatcher(pattern: string): (path: string) => boolean {
  const plain = pattern.replace(/^\.\//, '');
  const matchers = [plain, plain.replaceAll('**/', '')].map((one) => eventMatcher(one.replaceAll('/', ':')));
  return (path) => matchers.some((matches) => matches(path.replaceAll('/', ':')));
}
