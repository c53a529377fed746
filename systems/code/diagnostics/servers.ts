/**
 * Which language server answers for which files of a project.
 *
 * - D1 In `readonly` it is the TypeScript that Sentinel itself comes with, because a program of the project's
 *      `node_modules` is a program of the project's choice. So it is for a model in `full`, which may have written
 *      that program with a lesser right than that of a shell. In `sandboxed` the project's own runs in the sandbox.
 *      Nor does it where a person is to be asked before a shell line runs: the command is of class `read`.
 * - D2 TypeScript 7 is its own language server; a project with an older one needs typescript-language-server.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { findHelper, helperPath } from '../../../world/own-programs/helper-programs.ts';
import { plainText } from '../../../world/files/plain-file.ts';
import type { Confinement } from '../../../language/permissions.ts';

export interface LanguageServer {
  name: string;
  program: string;
  args: readonly string[];
  /** Outside the project, for a sandbox to show. */
  folders: readonly string[];
}

export type Language = 'TypeScript' | 'Python';

const LANGUAGES: { readonly [extension: string]: readonly [Language, string] } = {
  '.ts': ['TypeScript', 'typescript'],
  '.mts': ['TypeScript', 'typescript'],
  '.cts': ['TypeScript', 'typescript'],
  '.tsx': ['TypeScript', 'typescriptreact'],
  '.js': ['TypeScript', 'javascript'],
  '.mjs': ['TypeScript', 'javascript'],
  '.cjs': ['TypeScript', 'javascript'],
  '.jsx': ['TypeScript', 'javascriptreact'],
  '.py': ['Python', 'python'],
  '.pyi': ['Python', 'python'],
};

export const languageOf = (path: string): Language | null => LANGUAGES[extname(path)]?.[0] ?? null;
/** As the protocol names it. */
export const languageIdOf = (path: string): string => LANGUAGES[extname(path)]?.[1] ?? 'plaintext';

/** Null where none is there. */
export function serverFor(
  language: Language,
  root: string,
  { mode, byModel, asksForPrograms }: Confinement = {},
): LanguageServer | null {
  const takesOwn = asksForPrograms !== true && (mode === 'sandboxed' || (mode === undefined && byModel !== true));
  const path = helperPath(root);
  const installed = (name: string): string | null => {
    const own = join(root, 'node_modules', '.bin', name);
    return takesOwn && existsSync(own) ? own : findHelper(name, path);
  };
  const standing = (name: string, program: string): LanguageServer | null => {
    const file = installed(program);
    return file === null ? null : { name, program: file, args: ['--stdio'], folders: [] };
  };
  if (language === 'Python') return standing('pyright', 'pyright-langserver');
  const own = takesOwn ? typescriptIn(join(root, 'node_modules', 'typescript')) : null;
  if (own?.isServer === true) return own.server;
  const older = own === null ? null : standing('typescript-language-server', 'typescript-language-server');
  return older ?? ours();
}

interface FoundTypeScript {
  isServer: boolean;
  server: LanguageServer;
}

function ours(): LanguageServer | null {
  try {
    const file = createRequire(import.meta.url).resolve('typescript/package.json');
    const found = typescriptIn(dirname(file));
    return found?.isServer === true ? found.server : null;
  } catch {
    // An installation may leave it out.
    return null;
  }
}

/** From version 7 on it is a program for each platform, in a package of its own. */
function typescriptIn(folder: string): FoundTypeScript | null {
  const described = join(folder, 'package.json');
  const text = plainText(described);
  if (text === null) return null;
  const { version = '' } = JSON.parse(text) as { version?: string };
  const server = { name: `typescript ${version}`, args: ['--lsp', '--stdio'] };
  try {
    const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
    const packaged = dirname(createRequire(described).resolve(`${platform}/package.json`));
    const program = join(packaged, 'lib', 'tsc');
    return { isServer: existsSync(program), server: { ...server, program, folders: [packaged] } };
  } catch {
    return { isServer: false, server: { ...server, program: '', folders: [] } };
  }
}
