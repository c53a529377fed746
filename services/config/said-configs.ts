/** Which configurations a user has been told of: one is code, and who runs it should know, once and when it changed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { homeDoubt, makeHome } from '../home/own-home.ts';
import { writeAtomically } from '../home/home-files.ts';
import type { ConfigFile } from './project-file.ts';

const Said = z.record(z.string(), z.string());

/** What is to be said of a file that is about to be loaded; null where it has been said. */
export function newsOf(home: string, { path, digest }: ConfigFile): string | null {
  const file = join(home, 'configs.json');
  const said = saidIn(file);
  const before = said[path];
  if (before === digest) return null;
  // Whoever only looks sets nothing aside.
  if (homeDoubt(home) !== null) return `loading ${path}, which is code`;
  makeHome(home);
  writeAtomically(file, `${JSON.stringify({ ...said, [path]: digest }, null, 2)}\n`);
  return before === undefined ? `loading ${path}, which is code` : `loading ${path}, which has changed`;
}

function saidIn(file: string): z.infer<typeof Said> {
  try {
    return Said.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Nothing was said yet, or nobody can tell any more: then it is said again.
    return {};
  }
}
