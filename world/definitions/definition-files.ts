/**
 * Definitions in files: reading one with all its problems, and finding those that its `$ref`s name. A file that cannot be
 * read is a problem like any other.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Catalogue } from '../../language/catalogue.ts';
import type { ParamCheck } from '../../language/params/param-check.ts';
import type { Definition } from '../../language/model.ts';
import type { Problem } from '../../language/problems.ts';
import type { NearRef, RefusedRefs } from '../../language/read/checks/nesting.ts';
import {
  DEFINITION_ENDINGS,
  formatOf,
  isDefinitionFile,
  isExportText,
  otherThan,
  readDefinitionText,
} from '../../language/read/text/definition-text.ts';
import { parseDefinition, parseDefinitionText, type ReadOptions } from '../../language/read/definition.ts';
import type { ResultSchemas } from '../../language/read/shapes/of-steps.ts';
import { spelledNearly } from '../../language/read/remedies/meant-word.ts';
import { defined } from '../../language/defined.ts';
import { isBelow } from '../own-programs/helper-programs.ts';
import { refFiles } from './ref-files.ts';
import { textOfFile } from './text-of-file.ts';

/** Files of one folder that are looked into for a name. */
const filesSearchedMax = 500;

export interface DefinitionRead {
  /** Null when there are errors among the problems. */
  definition: Definition | null;
  problems: Problem[];
  inferred: string[];
  /** Who the file says owns the run. */
  persona?: string;
}

export type Known = (name: string) => Definition | undefined;

/** The commands there are, and what is known of their parameters. */
export interface Commands {
  catalogue: Catalogue;
  params?: ParamCheck;
  /** And of their results. */
  results?: ResultSchemas;
  /** Definitions that systems of the project bring, by name, as they are written. */
  shipped?: { readonly [name: string]: object };
  /** The project that definitions belong to: paths of `$ref`s stay in it. */
  root?: string;
}

/** What a definition may name: commands, and definitions, with what keeps one of a name from being one. */
export interface Named extends Commands {
  known: Known;
  refused: RefusedRefs;
  near: NearRef;
}

export function readDefinitionFile(file: string, named: Named): DefinitionRead {
  const { known, refused, near, root } = named;
  return readWith(file, root, { ...commandsOf(named), knownRefs: known, refusedRefs: refused, nearRef: near });
}

/** As the options of reading a definition. */
export const commandsOf = ({
  catalogue,
  params,
  results,
}: Commands): Pick<ReadOptions, 'catalogue' | 'params' | 'results'> => ({
  catalogue,
  ...defined({ params, results }),
});

/** Commands and project, of whatever has them. */
export const inProject = (commands: Commands): Commands => ({
  ...commandsOf(commands),
  ...defined({ root: commands.root, shipped: commands.shipped }),
});

function readWith(file: string, root: string | undefined, options: ReadOptions): DefinitionRead {
  const read = textOfFile(file);
  if ('problem' in read) return { definition: null, problems: [read.problem], inferred: [] };
  const files = refFiles(file, root);
  const { inferred, ...rest } = parseDefinitionText(read.text, { ...options, files }, formatOf(file));
  const problems = rest.problems.map((problem) =>
    problem.line === undefined ? problem : { ...problem, file: problem.file ?? relative('.', file) },
  );
  if (!rest.ok) return { definition: null, problems, inferred };
  return {
    definition: rest.definition,
    problems,
    inferred,
    ...defined({ persona: rest.persona }),
  };
}

/** `deep`: what lies in folders below it counts, too. */
export interface DefinitionFolder {
  path: string;
  deep: boolean;
}

/** Definitions that files hold, by name. `folders` are searched in order. */
export class DefinitionFiles implements Named {
  readonly catalogue: Catalogue;
  readonly params?: ParamCheck;
  readonly results?: ResultSchemas;
  readonly root?: string;
  readonly shipped: { readonly [name: string]: object };
  readonly #folders: readonly DefinitionFolder[];
  readonly #found = new Map<string, string | null>();
  readonly #lists = new Map<DefinitionFolder, string[]>();
  readonly #read = new Map<string, DefinitionRead>();

  constructor({ catalogue, params, results, root, shipped = {} }: Commands, folders: readonly DefinitionFolder[]) {
    this.catalogue = catalogue;
    this.shipped = shipped;
    if (params !== undefined) this.params = params;
    if (results !== undefined) this.results = results;
    if (root !== undefined) this.root = root;
    this.#folders = folders;
  }

  readonly known: Known = (name) => {
    const file = this.find(name);
    if (file !== null) return this.#readOnce(file).definition ?? undefined;
    const written = this.written(name);
    return written === undefined ? undefined : (readWritten(written, leniently(this)).definition ?? undefined);
  };

  /** What a system of the project brings under the name, as it is written there; a file comes first. */
  written(name: string): object | undefined {
    return Object.hasOwn(this.shipped, name) ? { name, ...this.shipped[name] } : undefined;
  }

  /** What keeps the file of that name from being a definition. */
  readonly refused: RefusedRefs = (name) => {
    const file = this.find(name);
    if (file === null) return undefined;
    const { definition, problems } = this.#readOnce(file);
    return definition === null ? { where: relative('.', file), problems } : undefined;
  };

  readonly near: NearRef = (name) => spelledNearly(name, this.names());

  /** The file called `name` with one of the endings of definitions, or the one whose definition is named so. */
  find(name: string): string | null {
    const before = this.#found.get(name);
    if (before !== undefined) return before;
    const found = this.#search(name);
    this.#found.set(name, found);
    return found;
  }

  /** Names under which something would be found, for suggestions. */
  names(): string[] {
    return [...this.#folders.flatMap((folder) => this.#filesIn(folder)).map(bareName), ...Object.keys(this.shipped)];
  }

  #readOnce(file: string): DefinitionRead {
    const read = this.#read.get(file) ?? readWith(file, this.root, leniently(this));
    this.#read.set(file, read);
    return read;
  }

  #search(name: string): string | null {
    for (const folder of this.#folders) {
      const files = this.#filesIn(folder);
      const found =
        files.find((file) => bareName(file) === name && !isExportFile(file)) ??
        files.find((file) => nameIn(file) === name);
      if (found !== undefined) return found;
    }
    return null;
  }

  #filesIn(folder: DefinitionFolder): string[] {
    const files = this.#lists.get(folder) ?? definitionFilesIn(folder);
    this.#lists.set(folder, files);
    return files;
  }
}

/** Where definitions lie that a project brings; who writes there is held in (world/confinement/protected-places.ts). */
const FOLDERS = ['sentinels', join('.continuum', 'sentinels'), join('system', 'recipes')];

export const definitionsOf = (root: string): DefinitionFolder[] =>
  FOLDERS.map((folder) => ({ path: join(root, folder), deep: true }));

/** The project that a file belongs to: `root`, or another in whose folders for definitions it lies; null where it lies in none. */
export function projectAround(file: string, root?: string): string | null {
  if (root !== undefined && isBelow(file, root)) return root;
  const found = FOLDERS.flatMap((folder) => {
    const at = file.lastIndexOf(`${sep}${folder}${sep}`);
    return at < 1 ? [] : [{ at, end: at + folder.length }];
  });
  // The innermost; of two that are the same folder, one is named by more of its path.
  const [nearest] = found.toSorted((a, b) => b.end - a.end || a.at - b.at);
  return nearest === undefined ? null : file.slice(0, nearest.at);
}

/** `deploy` of `sentinels/deploy.yaml`. */
function bareName(file: string): string {
  return basename(
    file,
    DEFINITION_ENDINGS.find((ending) => file.endsWith(ending)),
  );
}

function definitionFilesIn(folder: DefinitionFolder): string[] {
  let entries: string[];
  try {
    entries = readdirSync(folder.path, { recursive: folder.deep, encoding: 'utf8' });
  } catch {
    // A folder that is not there holds no definitions.
    return [];
  }
  return entries
    .filter((entry) => isDefinitionFile(entry) && otherThan(entry) === null)
    .toSorted()
    .slice(0, filesSearchedMax)
    .map((entry) => join(folder.path, entry));
}

/** It is imported, and not run. */
export function isExportFile(file: string): boolean {
  const read = textOfFile(file);
  return !('problem' in read) && isExportText(read.text);
}

/** By file, and as what it was last changed. */
const names = new LRUCache<string, { name: string | null }>({ max: filesSearchedMax * 10 });

function nameIn(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  if (found === undefined) return null;
  const key = `${found.ino}:${found.ctimeNs}:${found.size}:${file}`;
  const known = names.get(key) ?? { name: readNameIn(file) };
  names.set(key, known);
  return known.name;
}

function readNameIn(file: string): string | null {
  const read = textOfFile(file);
  if ('problem' in read) return null;
  // What is neither holds no definition that can be meant.
  const text = readDefinitionText(read.text, formatOf(file));
  const value = text.ok ? text.value : null;
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
    ? value.name
    : null;
}

const anything: Known = (name) => ({ name, steps: [], loop: { type: 'once' } });

/** What a referenced definition itself refers to, and whether its loops are bounded, is checked by whoever follows the references. */
const leniently = (commands: Commands): ReadOptions => ({
  ...commandsOf(commands),
  knownRefs: anything,
  isBounded: true,
});

/** Of what stands in no file. */
export function readWritten(written: object, options: ReadOptions): DefinitionRead {
  const { problems, inferred, ...rest } = parseDefinition(written, options);
  return { definition: 'definition' in rest ? rest.definition : null, problems, inferred };
}
