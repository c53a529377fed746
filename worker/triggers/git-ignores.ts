/**
 * Which files of a project git ignores: `.gitignore` in every folder from the repository's root down,
 * and `.git/info/exclude`. A deeper file has the last word, and nothing inside an ignored folder comes
 * back, as with git itself. `.git` is always ignored.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Ignore } from 'ignore';
import { ignoreRules } from '../../world/files/ignore-rules.ts';
import { plainText } from '../../world/files/plain-file.ts';

export class GitIgnores {
  readonly #root: string;
  readonly #rules = new Map<string, Ignore | null>();

  constructor(project: string) {
    this.#root = repositoryOf(project);
  }

  /** `path` is absolute. What is not known to be a folder is taken for a file. */
  ignores(path: string, isFolder: boolean): boolean {
    const parts = relative(this.#root, path).split(sep);
    if (parts[0] === '' || parts[0] === '..') return false;
    return parts.some(
      (part, index) =>
        part === '.git' || this.#ignoresOne(parts.slice(0, index + 1), index < parts.length - 1 || isFolder),
    );
  }

  /** Reads the rules again when next asked. */
  forget(): void {
    this.#rules.clear();
  }

  #ignoresOne(parts: readonly string[], isFolder: boolean): boolean {
    let verdict = false;
    for (let depth = 0; depth < parts.length; depth += 1) {
      const rules = this.#rulesIn(parts.slice(0, depth));
      if (rules === null) continue;
      const { ignored, unignored } = rules.test(`${parts.slice(depth).join('/')}${isFolder ? '/' : ''}`);
      verdict = ignored || (verdict && !unignored);
    }
    return verdict;
  }

  #rulesIn(folder: readonly string[]): Ignore | null {
    const key = folder.join('/');
    let rules = this.#rules.get(key);
    if (rules === undefined) {
      const at = join(this.#root, ...folder);
      rules = readRules([...(key === '' ? [join(at, '.git', 'info', 'exclude')] : []), join(at, '.gitignore')]);
      this.#rules.set(key, rules);
    }
    return rules;
  }
}

function readRules(files: readonly string[]): Ignore | null {
  const texts = files.map((file) => plainText(file) ?? '').filter((text) => text !== '');
  return texts.length === 0 ? null : ignoreRules(texts.join('\n'));
}

/** The nearest folder up with a `.git`; the project itself where there is none. */
function repositoryOf(project: string): string {
  for (let folder = project; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return project;
  }
}
