/**
 * Which projects want a worker of their own: a file for each in the home, whose time says when somebody asked last. A
 * client asks before it starts a run, a worker while it has something to do, and the worker of the installation for
 * projects whose runs wait for one. The supervisor starts workers and ends them by what stands here; it stays when the
 * services stop, so that whatever waits finds its project again.
 */
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { projectKey } from '../config/project-queue.ts';
import { makeFolders } from '../home/home-files.ts';
import { readHomeState, writeHomeState } from '../home/home-state.ts';

const FOLDER = 'projects';

const ProjectAsk = z.strictObject({
  project: z.string(),
  /** Of the configuration that whoever asked has seen; null: nobody has. */
  digest: z.string().nullable(),
  /** The digest of code that the environment of whoever asked trusts (SENTINEL_TRUST). */
  trusted: z.string().nullable(),
  /** It has something to do whether or not somebody asks: it follows events, or receives webhooks. */
  stays: z.boolean(),
  /** It has sources of webhooks. */
  receives: z.boolean(),
});
export type ProjectAsk = z.infer<typeof ProjectAsk>;

export interface StandingAsk extends ProjectAsk {
  key: string;
  /** Milliseconds since the epoch. */
  at: number;
}

const nameOf = (key: string): string => join(FOLDER, `${key}.json`);

/** What is left out stays as it was. */
export function askForWorker(
  home: string,
  { project, ...given }: Pick<ProjectAsk, 'project'> & Partial<ProjectAsk>,
): void {
  const key = projectKey(project);
  const before = readAsk(home, key);
  const {
    key: _key,
    at: _at,
    ...known
  } = before ?? { key, at: 0, project, digest: null, trusted: null, stays: false, receives: false };
  const now: ProjectAsk = { ...known, ...given };
  if (before !== null && isSame(known, now)) return renew(join(home, nameOf(key)));
  makeFolders(join(home, FOLDER), 0o700);
  writeHomeState(home, nameOf(key), now);
}

/** What environments trusted ends with the services. */
export function forgetTrusted(home: string): void {
  for (const key of keysIn(home)) {
    const { at: _at, key: _key, ...ask } = readAsk(home, key) ?? { at: 0, key, trusted: null };
    if (ask.trusted !== null) writeHomeState(home, nameOf(key), { ...ask, trusted: null });
  }
}

const isSame = (one: ProjectAsk, other: ProjectAsk): boolean =>
  one.digest === other.digest &&
  one.trusted === other.trusted &&
  one.stays === other.stays &&
  one.receives === other.receives;

function renew(file: string): void {
  const now = new Date();
  utimesSync(file, now, now);
}

/** Those of a home. A file is read again once it has changed. */
export class ProjectAsks {
  readonly #home: string;
  #known = new Map<string, StandingAsk | null>();

  constructor(home: string) {
    this.#home = home;
  }

  list(): StandingAsk[] {
    const known = new Map<string, StandingAsk | null>();
    for (const key of keysIn(this.#home)) {
      const at = timeOf(join(this.#home, nameOf(key)));
      if (at === null) continue;
      const before = this.#known.get(key);
      known.set(key, before?.at === at ? before : readAsk(this.#home, key));
    }
    this.#known = known;
    return [...known.values()].filter((ask) => ask !== null);
  }
}

function keysIn(home: string): string[] {
  try {
    return readdirSync(join(home, FOLDER)).flatMap((name) => /^([0-9a-f]{16})\.json$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}

function readAsk(home: string, key: string): StandingAsk | null {
  const at = timeOf(join(home, nameOf(key)));
  if (at === null) return null;
  try {
    return { ...ProjectAsk.parse(readHomeState(home, nameOf(key))), key, at };
  } catch {
    // Half written by a full disk: whoever asks next writes it anew.
    return null;
  }
}

function timeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
