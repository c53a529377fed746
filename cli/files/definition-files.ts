/** The definitions that a path names: a file itself, or all files of definitions in a folder and below it. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDefinitionFile, otherThan } from '../../language/read/text/definition-text.ts';
import { usage } from '../request/usage.ts';

const SKIPPED = new Set(['node_modules', 'dist']);

export function definitionFiles(path: string): string[] {
  if (isDefinitionFile(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const files = filesBelow(path).toSorted();
  if (files.length === 0)
    throw usage(`${path} holds no definition, nor does a folder below it; give the file of a definition.`);
  return files;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): string[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || entry.name.startsWith('.') ? [] : filesBelow(path);
    return isDefinitionFile(entry.name) && otherThan(entry.name) === null ? [path] : [];
  });
}
