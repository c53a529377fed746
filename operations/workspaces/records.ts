/**
 * The workspaces of a project on this host: each is a folder in the cache, and beside it a record that says whose it is.
 * No step of a sandbox reaches the record, and it outlives the folder.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { workspacesFolder } from '../../services/home/home-records.ts';
import { placeOf } from '../../world/git/worktrees/workspace-place.ts';
import { isBelow, realOf } from '../../world/own-programs/helper-programs.ts';

/** A merge that came to conflicts, while nobody has resolved them. */
const Unresolved = z.strictObject({
  branch: z.string(),
  /** Of that branch. */
  commit: z.string(),
  /** By path: what the file was, and the passages of it that were in conflict. */
  files: z.record(z.string(), z.strictObject({ blob: z.string().nullable(), passages: z.array(z.string()) })),
});
export type Unresolved = z.infer<typeof Unresolved>;

const WorkspaceRecord = z.strictObject({
  version: z.literal(1),
  /** Of the folder; unique in the project. */
  name: z.string(),
  isolationType: z.enum(['worktree', 'copy']),
  branch: z.string(),
  /** The commit that it began with. */
  base: z.string(),
  /** The branch of the workspace that it was forked from. */
  parent: z.string().nullable(),
  /** The run that owns it, and the step that made it. */
  handle: z.string(),
  key: z.string(),
  /** Real path of the folder that it is a workspace of. */
  project: z.string(),
  /** Of the project below the root of its repository. */
  below: z.string(),
  madeAt: z.number(),
  /** How often it was given to another owner. */
  turn: z.number().default(0),
  /** False while it is being made. */
  isReady: z.boolean(),
  unresolved: z.array(Unresolved).default([]),
});
export type WorkspaceRecord = z.infer<typeof WorkspaceRecord>;

const Owned = WorkspaceRecord.pick({ handle: true, key: true });

/** A record, and where it is. */
export interface Workspace extends WorkspaceRecord {
  /** The work tree, or the copy. */
  folder: string;
  /** What a run works in: the folder, or the project's place in it. */
  root: string;
}

const ENDING = '.json';
/** No branch, and so no workspace, begins with a dot. */
const RECORDS = '.records';

const workspaceIn = (place: string, record: WorkspaceRecord): Workspace => {
  const folder = join(place, record.name);
  return { ...record, folder, root: record.below === '' ? folder : join(folder, record.below) };
};

async function read(file: string): Promise<Workspace | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return workspaceIn(dirname(dirname(file)), WorkspaceRecord.parse(JSON.parse(text)));
  } catch {
    // Nobody but us writes there: one that cannot be read was cut by a full disk, and says nothing.
    return null;
  }
}

/** Those of a project, oldest first. */
export async function workspacesOf(project: string): Promise<Workspace[]> {
  return listed(placeOf(project));
}

/** Those of all projects. */
export async function allWorkspaces(): Promise<Workspace[]> {
  const places = await readdir(workspacesFolder()).catch(() => []);
  const found = await Promise.all(places.map((place) => listed(join(workspacesFolder(), place))));
  return found.flat();
}

const recordOf = (place: string, name: string): string => join(place, RECORDS, `${name}${ENDING}`);

async function listed(place: string): Promise<Workspace[]> {
  const names = await readdir(join(place, RECORDS)).catch(() => []);
  const files = names.filter((name) => name.endsWith(ENDING) && !name.startsWith('.'));
  const found = await Promise.all(files.map((name) => read(join(place, RECORDS, name))));
  return found.flatMap((one) => one ?? []).toSorted((a, b) => a.madeAt - b.madeAt);
}

/** The workspace that a run works in; null where the folder is none of ours. */
export async function workspaceAt(root: string): Promise<Workspace | null> {
  const home = realOf(workspacesFolder());
  const real = realOf(root);
  if (!isBelow(real, home)) return null;
  const [place, name] = real.slice(home.length + 1).split('/');
  return place === undefined || name === undefined ? null : read(recordOf(join(workspacesFolder(), place), name));
}

/** Whole or not at all. */
export async function keepRecord({ folder: _folder, root: _root, ...record }: Workspace): Promise<void> {
  const place = placeOf(record.project);
  await mkdir(join(place, RECORDS), { recursive: true, mode: 0o700 });
  const draft = join(place, RECORDS, `.${record.name}.${randomBytes(6).toString('hex')}`);
  await writeFile(draft, JSON.stringify(record), { mode: 0o600 });
  await rename(draft, recordOf(place, record.name));
}

const turnOf = (place: string, { name }: WorkspaceRecord, turn: number): string =>
  join(place, RECORDS, `.${name}.turn-${turn}`);

/**
 * Gives a workspace to another owner. Null where somebody else was faster: of several, in any process of this host, one
 * makes the link of the next turn, and whoever finds it completes the record of one that died before that.
 */
export async function passOn(
  left: Workspace,
  { handle, key }: Pick<WorkspaceRecord, 'handle' | 'key'>,
): Promise<Workspace | null> {
  const place = placeOf(left.project);
  const turn = left.turn + 1;
  const link = turnOf(place, left, turn);
  try {
    await symlink(JSON.stringify({ handle, key }), link);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const owner = Owned.parse(JSON.parse(await readlink(link)));
  const own = { ...left, ...owner, turn };
  if (((await read(recordOf(place, left.name)))?.turn ?? turn) < turn) await keepRecord(own);
  await rm(turnOf(place, left, left.turn), { force: true });
  return owner.handle === handle && owner.key === key ? own : null;
}

export async function forget(record: WorkspaceRecord): Promise<void> {
  const place = placeOf(record.project);
  await rm(recordOf(place, record.name), { force: true });
  await rm(turnOf(place, record, record.turn), { force: true });
}

const nameMax = 80;

/** A record, and with it a folder for the branch: its name, or that and a number. */
export async function claim(record: Omit<WorkspaceRecord, 'name' | 'version'>): Promise<Workspace> {
  const place = placeOf(record.project);
  const wished = record.branch.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, nameMax);
  await mkdir(join(place, RECORDS), { recursive: true, mode: 0o700 });
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wished : `${wished}-${number}`;
    const own: WorkspaceRecord = { ...record, version: 1, name };
    const workspace = workspaceIn(place, own);
    if (existsSync(workspace.folder)) continue;
    try {
      await writeFile(recordOf(place, name), JSON.stringify(own), { mode: 0o600, flag: 'wx' });
      return workspace;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
}
