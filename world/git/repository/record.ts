/**
 * What moves in the project's repository, as entries of the states beside its files: below a folder that no state
 * holds files of, because homes of Sentinel are left out.
 *
 * - V1 A ref is an entry with the name of its commit itself, so it needs no object; HEAD and others that follow a ref
 *      are links; what is staged, and the list of stashes, are files.
 * - V2 Git never opens the repository. Of its index, git lists what is staged, from a descriptor and with our settings.
 * - V3 A look that finds what the one before found writes nothing.
 * - V4 `place` says whose entries these are: between two states that name different ones nothing moved.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { openFolder, placeOf } from '../../confinement/beneath.ts';
import { CHECKPOINT_BOUNDS } from '../trees/bounds.ts';
import { asFile, blobOf, SYMLINK } from '../trees/files-in-place.ts';
import { DESCRIPTORS, GitTrouble, type ShadowGit } from '../trees/shadow-git.ts';
import { COMMIT, FILE, HEAD, INDEX, PLACE, RECORD, STASH, WITHOUT, WORK_TREES } from '../trees/entries.ts';
import { type OwnRepository, ownRepository, Unrecorded } from './find-own.ts';
import { RefReader, type RefValue } from './read-refs.ts';

interface Entry {
  mode: string;
  id: string;
  /** Absent for what needs no object. */
  content?: Buffer;
}

const asText = (mode: string, text: string): Entry => {
  const content = Buffer.from(text);
  return { mode, id: blobOf(content), content };
};

const entryOf = (value: RefValue): Entry =>
  'object' in value ? { mode: COMMIT, id: value.object } : asText(SYMLINK, value.follows);

const said = ({ mode, id }: Entry): string => `${mode} ${id}`;

export interface News {
  /** For `update-index --index-info`: what it takes for the index to hold what is there now. */
  lines: readonly string[];
  holds: Map<string, string>;
}

export class RepositoryRecord {
  readonly #git: ShadowGit;
  readonly #refs = new RefReader();
  #staged: { stamp: string; entry: Entry | null } | null = null;
  /** In the index of this process. */
  #known: Map<string, string> | null = null;

  constructor(git: ShadowGit) {
    this.#git = git;
  }

  async news(): Promise<News> {
    const [known, now] = await Promise.all([this.#known ?? this.#listed(), this.#entries()]);
    const gone = [...known.keys()].filter((name) => !now.has(name));
    const come = [...now].filter(([name, entry]) => known.get(name) !== said(entry));
    await this.#store(come.flatMap(([, { content }]) => content ?? []));
    return {
      lines: [
        ...gone.map((name) => `0 ${'0'.repeat(40)}\t${RECORD}${name}`),
        ...come.map(([name, entry]) => `${said(entry)}\t${RECORD}${name}`),
      ],
      holds: new Map([...now].map(([name, entry]) => [name, said(entry)])),
    };
  }

  /** The index holds them now. */
  settle({ holds }: News): void {
    this.#known = holds;
  }

  /** The index may hold anything by now. */
  forget(): void {
    this.#known = null;
  }

  async #listed(): Promise<Map<string, string>> {
    if (!this.#git.hasIndex) return new Map();
    const listed = await this.#git.text(['ls-files', '-s', '-z', '--full-name', '--', RECORD.slice(0, -1)]);
    return new Map(
      listed
        .split('\0')
        .filter(Boolean)
        .map((line) => {
          const [mode = '', id = ''] = line.split(' ', 2);
          return [line.slice(line.indexOf('\t') + 1 + RECORD.length), `${mode} ${id}`];
        }),
    );
  }

  async #entries(): Promise<Map<string, Entry>> {
    try {
      const found = ownRepository(this.#git.project);
      if (found === null) return new Map();
      const { head, refs, stashes, workTrees } = this.#refs.read(found);
      const staged = await this.#stagedIn(found);
      return new Map([
        [PLACE, asText(SYMLINK, found.gitFolder)],
        [HEAD, entryOf(head)],
        ...[...refs].map(([name, value]) => [name, entryOf(value)] as const),
        ...[...workTrees].map(([name, place]) => [`${WORK_TREES}${name}`, asText(SYMLINK, place)] as const),
        ...(stashes === null ? [] : [[STASH, asText(FILE, stashes)] as const]),
        ...(staged === null ? [] : [[INDEX, staged] as const]),
      ]);
    } catch (error) {
      const why = error instanceof Unrecorded ? error.message : 'its files cannot be read';
      return new Map([[PLACE, asText(SYMLINK, `${WITHOUT}${why}`)]]);
    }
  }

  /** Only what is staged: an index that was refreshed says the same. Null where git cannot list it by itself. */
  async #stagedIn({ gitFolder }: OwnRepository): Promise<Entry | null> {
    const opened = openIndex(gitFolder);
    if (opened === null) return asText(FILE, '');
    try {
      if (this.#staged?.stamp === opened.stamp) return this.#staged.entry;
      const entry = await listStaged(this.#git, opened.descriptor);
      // Whoever writes twice within a moment may leave the same times.
      this.#staged = opened.isSettled ? { stamp: opened.stamp, entry } : null;
      return entry;
    } finally {
      closeSync(opened.descriptor);
    }
  }

  async #store(contents: readonly Buffer[]): Promise<void> {
    const { filesOpen } = CHECKPOINT_BOUNDS;
    for (let from = 0; from < contents.length; from += filesOpen) {
      const descriptors: number[] = [];
      try {
        for (const content of contents.slice(from, from + filesOpen))
          descriptors.push(asFile(content, this.#git.place));
        await this.#git.store(descriptors);
      } finally {
        for (const descriptor of descriptors) closeSync(descriptor);
      }
    }
  }
}

const settledMs = 100;

interface OpenedIndex {
  descriptor: number;
  stamp: string;
  isSettled: boolean;
}

function openIndex(gitFolder: string): OpenedIndex | null {
  const folder = openFolder('/', gitFolder, { create: false });
  if (folder === null) return null;
  try {
    const place = join(placeOf(folder, gitFolder), 'index');
    if (lstatSync(place, { throwIfNoEntry: false })?.isFile() !== true) return null;
    const descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { ino, size, mtimeNs, ctimeNs, ctimeMs } = fstatSync(descriptor, { bigint: true });
    const stamp = `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
    return { descriptor, stamp, isSettled: Number(ctimeMs) + settledMs < Date.now() };
  } finally {
    closeSync(folder);
  }
}

/** The digest of what is staged, as the record has it. */
export async function stagedNow(git: ShadowGit, { gitFolder }: OwnRepository): Promise<string | null> {
  const opened = openIndex(gitFolder);
  if (opened === null) return asText(FILE, '').id;
  try {
    return (await listStaged(git, opened.descriptor))?.id ?? null;
  } finally {
    closeSync(opened.descriptor);
  }
}

/** One that is split or sparse leads to what only its repository holds. */
async function listStaged(git: ShadowGit, index: number): Promise<Entry | null> {
  if (fstatSync(index).size > CHECKPOINT_BOUNDS.indexBytesMax) return null;
  try {
    const content = await git.run(['ls-files', '-s', '-z'], {
      index: `${DESCRIPTORS}/3`,
      descriptors: [index],
      bytesMax: CHECKPOINT_BOUNDS.stagedBytesMax,
    });
    return { mode: FILE, id: blobOf(content), content };
  } catch (error) {
    if (error instanceof GitTrouble) return null;
    throw error;
  }
}
