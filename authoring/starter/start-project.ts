/**
 * The files that a project begins with: a definition with its test, the configuration, a line of `.gitignore`, a CI
 * workflow. Their texts are in sentinels/init/. All places are looked at before the first of them is written, and what is there is left
 * as it is.
 */
import { appendFileSync, existsSync, lstatSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEFINITION_ENDINGS } from '../../language/read/text/definition-text.ts';
import { ClientError } from '../../runs/client-error.ts';
import { makeFolders } from '../../services/home/home-files.ts';
import { ownRoot, PACKAGE } from '../../services/home/package-root.ts';
import { CONFIG_FILES } from '../../services/config/project-file.ts';

/** A file of the project, as a path below its folder. */
export interface Begun {
  file: string;
  done: 'written' | 'extended' | 'kept';
  /** Why it was kept. */
  because?: string;
}

interface Template {
  file: string;
  /** In sentinels/init/. */
  template: string;
  /** Files that do the same; where there is one, this is not written. */
  insteadOf: readonly string[];
  /** Belongs to this file, and is written only where that one is as it is written here. */
  of?: Template;
}

const DEFINITION: Template = {
  file: 'sentinels/gate.json',
  template: 'gate.json',
  insteadOf: DEFINITION_ENDINGS.map((ending) => `sentinels/gate${ending}`),
};
const TEMPLATES: readonly Template[] = [
  DEFINITION,
  {
    file: 'sentinels/gate.sentinel-test.json',
    template: 'gate.sentinel-test.json',
    insteadOf: [],
    of: DEFINITION,
  },
  { file: 'sentinel.config.ts', template: 'sentinel.config.ts', insteadOf: CONFIG_FILES },
  {
    file: '.github/workflows/sentinel.yml',
    template: 'github-workflow.yml',
    insteadOf: ['.github/workflows/sentinel.yaml'],
  },
];
const IGNORE_FILE = '.gitignore';
/** The data of services, and what npm installs. */
const IGNORED = ['.sentinel', 'node_modules'] as const;

/** Writes what is missing in the folder, which is made when it is not there. */
export function startProject(folder: string): Begun[] {
  refuseUnlessFolder(folder, folder);
  for (const file of [...TEMPLATES.map((template) => template.file), IGNORE_FILE]) refuseBlocked(folder, file);
  return [...TEMPLATES.map((template) => begin(folder, template)), ignore(folder)];
}

function begin(folder: string, template: Template): Begun {
  const { file, insteadOf, of } = template;
  const there = [file, ...insteadOf].find((other) => isThere(join(folder, other)));
  if (there === file) return { file, done: 'kept', because: 'it is there already' };
  if (there !== undefined) return { file, done: 'kept', because: `${there} is there already` };
  if (of !== undefined && !isAsWritten(folder, of))
    return { file, done: 'kept', because: `it would test another ${of.file} than the one that is there` };
  attempt(file, folder, () => {
    makeFolders(dirname(join(folder, file)));
    writeFileSync(join(folder, file), textOf(template), { flag: 'wx' });
  });
  return { file, done: 'written' };
}

function ignore(folder: string): Begun {
  const path = join(folder, IGNORE_FILE);
  if (!isThere(path)) {
    attempt(IGNORE_FILE, folder, () =>
      writeFileSync(path, IGNORED.map((name) => `${name}/\n`).join(''), { flag: 'wx' }),
    );
    return { file: IGNORE_FILE, done: 'written' };
  }
  const text = attempt(IGNORE_FILE, folder, () => readFileSync(path, 'utf8'));
  const missing = IGNORED.filter((name) => !isIgnoredBy(text, name));
  if (missing.length === 0) {
    const named = IGNORED.map((name) => `${name}/`).join(' and ');
    return { file: IGNORE_FILE, done: 'kept', because: `it names ${named} already` };
  }
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const before = text === '' || text.endsWith('\n') ? '' : newline;
  const added = missing.map((name) => `${name}/${newline}`).join('');
  attempt(IGNORE_FILE, folder, () => appendFileSync(path, `${before}${added}`));
  return { file: IGNORE_FILE, done: 'extended' };
}

/** Some line of the file names the folder, in one of the forms that git takes for it. */
const isIgnoredBy = (text: string, name: string): boolean =>
  text.split('\n').some((line) => /^(?:\*\*)?\/?([^/]+)(?:\/\*{0,2})?$/.exec(line.trim())?.[1] === name);

/** Whether the folder's own `.gitignore` leaves out the data of services. */
export function ignoresData(folder: string): boolean {
  const path = join(folder, IGNORE_FILE);
  return existsSync(path) && isIgnoredBy(readFileSync(path, 'utf8'), IGNORED[0]);
}

const textOf = ({ template }: Template): string => readFileSync(join(ownRoot, 'sentinels', 'init', template), 'utf8');

function isAsWritten(folder: string, template: Template): boolean {
  const path = join(folder, template.file);
  return isThere(path) && attempt(template.file, folder, () => readFileSync(path, 'utf8')) === textOf(template);
}

/** A link that leads nowhere is there, too. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Every folder on the way to the file is a folder or absent, and the file is none. */
function refuseBlocked(folder: string, file: string): void {
  const parts = file.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const part = parts.slice(0, length).join('/');
    refuseUnlessFolder(join(folder, part), part);
  }
  if (statSync(join(folder, file), { throwIfNoEntry: false })?.isDirectory() === true)
    throw new ClientError('USAGE', `${file} in ${folder} is a folder; move it away, or give another folder.`);
}

function refuseUnlessFolder(path: string, name: string): void {
  const found = attempt(name, path, () => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined || found.isDirectory()) return;
  throw new ClientError(
    'USAGE',
    name === path
      ? `${path} is a file; give a folder.`
      : `${path} is a file, and "${name}" has to be a folder; move the file away, or give another folder.`,
  );
}

function attempt<Result>(file: string, folder: string, deed: () => Result): Result {
  try {
    return deed();
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw new ClientError(
      'USAGE',
      `${file} cannot be read or written in ${folder} (${found}); give a folder that you may write.`,
    );
  }
}

/** The folder at or above this one whose `node_modules` has the package, and so the data of its services; null: none. */
export function installedIn(folder: string): string | null {
  if (isThere(join(folder, 'node_modules', PACKAGE))) return folder;
  const parent = dirname(folder);
  return parent === folder ? null : installedIn(parent);
}
