/** Which tests a task is judged by: the first framework that its folder has, else the root of the project. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { plainText } from '../../world/files/plain-file.ts';

export interface Framework {
  name: string;
  /** The line that people would type. */
  command: string;
  /** The check of the project that runs them. */
  check: string;
  /** From the project; empty for the project itself. */
  folder: string;
}

/** `folder`: of the task, from the project. `hasPytest`: whether the Python that would run them has it. */
export function detect(root: string, folder: string, hasPytest: (folder: string) => boolean): Framework | null {
  for (const at of folder === '' ? [''] : [folder, '']) {
    const found = detectIn(root, at, hasPytest);
    if (found !== null) return { ...found, folder: at };
  }
  return null;
}

function detectIn(
  root: string,
  folder: string,
  hasPytest: (folder: string) => boolean,
): Omit<Framework, 'folder'> | null {
  const has = (...names: string[]): boolean => names.some((name) => existsSync(join(root, folder, name)));
  if (has('pyproject.toml', 'setup.py'))
    return hasPytest(folder)
      ? { name: 'pytest', command: 'python -m pytest', check: 'pytest' }
      : { name: 'unittest', command: 'python -m unittest discover -v', check: 'unittest' };
  if (has('package.json')) return ofPackage(plainText(join(root, folder, 'package.json')) ?? '');
  if (has('Cargo.toml')) return { name: 'cargo', command: 'cargo test', check: 'cargo' };
  if (has('go.mod')) return { name: 'go', command: 'go test ./...', check: 'go' };
  return null;
}

const NOTHING = /no test specified/;
const NODE_TEST = /^node(?: [^&|;<>`$()'"]*)? --test\b/;

function ofPackage(text: string): Omit<Framework, 'folder'> | null {
  const described = readPackage(text);
  const packages = ['dependencies', 'devDependencies'].flatMap((kind) =>
    isJsonObject(described[kind]) ? Object.keys(described[kind]) : [],
  );
  const { scripts } = described;
  const said = isJsonObject(scripts) ? scripts['test'] : undefined;
  const script = typeof said === 'string' && !NOTHING.test(said) ? said : '';
  if (packages.includes('vitest')) return { name: 'vitest', command: 'npx vitest run', check: 'vitest' };
  if (packages.includes('jest')) return { name: 'jest', command: script === '' ? 'npx jest' : script, check: 'jest' };
  if (script === '') return null;
  return NODE_TEST.test(script)
    ? { name: 'node:test', command: 'npm test', check: 'node:test' }
    : { name: 'npm test', command: 'npm test', check: 'npm test' };
}

function readPackage(text: string): JsonObject {
  try {
    const read = JSON.parse(text) as Json;
    return isJsonObject(read) ? read : {};
  } catch {
    return {};
  }
}
