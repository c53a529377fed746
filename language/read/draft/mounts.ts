/**
 * Definitions that stand in files of their own and are named by their paths. Each is read in place of its `$ref`,
 * so that a run carries it as if it were written there. Its places are kept apart by a mark at the beginning of
 * the path; the last look at the problems turns the mark into the file.
 */
import { definitionBytesMax, nestingDepthMax } from '../../limits.ts';
import type { Problem } from '../../problems.ts';
import { isTemplate } from '../../references/written-references.ts';
import { readDefinitionText, type Format } from '../text/definition-text.ts';
import { placed, placedAt, type PlaceOf } from '../text/placed-problems.ts';
import { checkShape } from '../text/shape.ts';

/** `id` tells files apart; `shown` is what problems call it. */
export interface NamedFile {
  id: string;
  shown: string;
}

export interface RefFile extends NamedFile {
  text: string;
  format: Format;
}

export type FileFault = Pick<Problem, 'code' | 'message'>;

/** Where a definition is written, and how it finds the files that it names. */
export interface RefFiles {
  self: NamedFile;
  /** `from`: the id of the file that says it. */
  read(ref: string, from: string): RefFile | FileFault;
}

interface Mount {
  file: RefFile;
  placeOf: PlaceOf;
  /** The files from the outermost one to this. */
  chain: readonly NamedFile[];
}

/** A private character: no text of ours begins with it, and JSON does not escape it. */
const MARK = '\uE0F5';
const MARKED = new RegExp(`^${MARK}(\\d+)${MARK}(?:\\.|$)`);
const MARKS = new RegExp(`${MARK}(\\d+)${MARK}(\\.?)`, 'g');

/** What is no object is no definition. */
export function noObject(value: unknown): Problem {
  const instead = Array.isArray(value)
    ? ', and here stands a list: write {"name": "…", "steps": […]} around it'
    : value === null
      ? ', and here stands nothing'
      : '';
  return {
    code: 'WRONG_TYPE',
    severity: 'error',
    path: '',
    message: `a definition is an object with "name", "steps" and "loop"${instead}`,
  };
}

const NO_FILE =
  'and a path is followed from a file alone: this definition comes from no file. Write that definition here, or save it ("sentinel save FILE") and refer to its name';

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Why a path in a definition that comes from no file leads nowhere. */
export const withoutFile = (ref: string): string => `"${ref}" is the path of a file, ${NO_FILE}`;

export class Mounts {
  readonly #files: RefFiles | undefined;
  readonly #mounted: Mount[] = [];
  /** Of texts that could not be read. */
  readonly #placed: Problem[] = [];
  #bytes = 0;

  constructor(files: RefFiles | undefined) {
    this.#files = files;
  }

  /** What the file holds, and the path it is read under; undefined where that cannot be, which is then among the problems. */
  mount(ref: string, at: string, problems: Problem[]): { value: unknown; path: string } | undefined {
    const files = this.#files;
    const refuse = (code: Problem['code'], message: string): undefined =>
      void problems.push({ code, severity: 'error', path: at, message });
    if (isTemplate(ref))
      return refuse(
        'BAD_FILE_REFERENCE',
        `"${ref}" is the path of a file, which is followed before the run has variables; write the path without references, or refer to a saved definition by a name`,
      );
    if (files === undefined) return refuse('BAD_FILE_REFERENCE', withoutFile(ref));
    const chain = this.#around(at)?.chain ?? [files.self];
    const file = files.read(ref, chain.at(-1)?.id ?? files.self.id);
    if (!('text' in file)) return refuse(file.code, file.message);
    const before = chain.findIndex(({ id }) => id === file.id);
    if (before !== -1) {
      const names = [...chain.slice(before), file].map(({ shown }) => shown).join(' → ');
      return refuse(
        'REFERENCE_CYCLE',
        `the reference comes back to its own file: ${names}; repeat with a loop instead`,
      );
    }
    if (chain.length > nestingDepthMax)
      return refuse('TOO_DEEP', `files refer to files more than ${nestingDepthMax} levels deep; refer to fewer`);
    // One that is past the bound is told of once.
    if (this.#bytes > definitionBytesMax) return undefined;
    this.#bytes += file.text.length;
    if (this.#bytes > definitionBytesMax)
      return refuse(
        'TOO_LARGE',
        `with "${ref}" the files that this definition names have more than ${definitionBytesMax} bytes, each counted as often as it is named; name fewer, or save one and refer to its name`,
      );
    return this.#read(file, chain, problems);
  }

  /** The problems with the files they are in, each once however often its file is named. */
  settle(problems: readonly Problem[]): Problem[] {
    if (this.isEmpty && this.#placed.length === 0) return [...problems];
    const found = new Map<string, Problem>();
    const inFiles = new Map<Mount, Problem[]>();
    const add = (problem: Problem): void => {
      const { code, path, message, file = '' } = problem;
      found.set(JSON.stringify([code, path, message, file]), problem);
    };
    for (const problem of problems) {
      const said = this.#said(problem);
      const mount = this.#around(problem.path);
      if (mount === undefined) add(said);
      else {
        const path = problem.path.replace(MARKED, '');
        const inside = inFiles.get(mount) ?? [];
        inside.push({ ...said, path });
        inFiles.set(mount, inside);
      }
    }
    for (const problem of this.#placed) add(problem);
    for (const [{ file, placeOf }, inside] of inFiles) {
      for (const problem of placed(inside, file.text, placeOf)) add({ ...problem, file: file.shown });
    }
    return [...found.values()];
  }

  /** A sentence with the names of files in place of marks. */
  plain(text: string): string {
    return text.replaceAll(MARKS, (_all, index: string, dot: string) => {
      const shown = this.#mounted[Number(index)]?.file.shown ?? '';
      return dot === '' ? shown : `${shown}: `;
    });
  }

  get isEmpty(): boolean {
    return this.#mounted.length === 0;
  }

  /** Whether a path is that of a whole file. */
  isRoot(path: string): boolean {
    return MARKED.exec(path)?.[0] === path;
  }

  #said({ fix, ...problem }: Problem): Problem {
    return { ...problem, message: this.plain(problem.message), ...(fix === undefined ? {} : { fix: this.plain(fix) }) };
  }

  #around(path: string): Mount | undefined {
    return this.#mounted[Number(MARKED.exec(path)?.[1] ?? Number.NaN)];
  }

  #read(file: RefFile, chain: readonly NamedFile[], problems: Problem[]): { value: unknown; path: string } | undefined {
    const { text, shown } = file;
    const read = readDefinitionText(text, file.format);
    if (!read.ok) {
      const problem = { ...read.problem, file: shown };
      this.#placed.push(read.at === undefined ? problem : placedAt(problem, text, read.at));
      return undefined;
    }
    const index = this.#mounted.push({ file, placeOf: read.placeOf, chain: [...chain, file] }) - 1;
    const root = `${MARK}${index}${MARK}`;
    const marked = (problem: Problem): Problem => ({
      ...problem,
      path: problem.path === '' ? root : `${root}.${problem.path}`,
    });
    this.#placed.push(...placed(read.problems, text, read.placeOf).map((problem) => ({ ...problem, file: shown })));
    const shape = isObject(read.value) ? checkShape(read.value) : noObject(read.value);
    if (shape === undefined) return { value: read.value, path: root };
    problems.push(marked(shape));
    return undefined;
  }
}
