/**
 * `mode: sandboxed`: a step's process under bubblewrap (`bwrap`).
 *
 * - X1 Outside the project nothing is written: what is visible is read-only, `/tmp` is the step's own
 *      and goes with it.
 * - X2 What is visible beside the project is a list: the system's programs and libraries, the folders
 *      of the worker's own PATH, and this Node. Home folders, `/run` (sockets), `/var`, `/mnt` are not on
 *      it, nor is the data of Sentinel's own services (system-view.ts). In the project, what runs later is
 *      read-only (protected-places.ts, project-view.ts).
 * - X3 There is no network, not even the host's loopback, and no process of the host is seen.
 * - X4 The inside dies with the worker, and with the step's process group.
 * - X5 Where bubblewrap does not work, nothing runs: there is no weaker sandbox.
 * - X6 Nothing of the step decides how the sandbox is made. bwrap has an environment of its own; the step's
 *      variables go in through a pipe, where the list of processes does not show them.
 */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure } from '../failures/failures.ts';
import { callFilter, S_ISGID } from './call-filter.ts';
import { findHelper, helperEnvironment, helperPath, isBelow, runHelper } from '../own-programs/helper-programs.ts';
import { REPOSITORIES } from './repositories/repositories.ts';
import { type Looked, ProjectView, type Shown } from './project-view.ts';
import { findProtectedPlaces, type ProtectedPlaces, type SecretPlace } from './protected-places.ts';
import { trySandbox, tryView } from './sandbox-probe.ts';
import {
  hiddenHomes,
  hiddenSockets,
  isolation,
  isVisible,
  programFolders,
  systemFolders,
  systemMounts,
} from './system-view.ts';

export interface Launch {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** What the process reads from its descriptors, from 3 on. */
  told?: readonly Buffer[];
  /** What it sees of the project, to be examined before it runs; its descriptors follow on 3. */
  view?: ProjectView;
  /** Places that may not come into being while it runs. */
  missing?: readonly string[];
  /** It is started by an init, which tells of it on descriptor 3 (world/processes/step-init.ts). */
  isBelowInit?: true;
}

/** What a sandbox shows beside the usual. */
export interface SandboxRequest {
  /** Files and folders outside the project that may be read. */
  readable?: readonly string[];
  /** Variables of the outer process as well: by them an orphan is found. */
  markers?: Record<string, string>;
  /** A repository of the project that git itself is to write, with the configuration that it may have. */
  repository?: { folder: string; config: string };
  /** Its repositories and its files with secrets are empty, but for those of these names. */
  withoutSecrets?: { but: readonly string[] };
}

export type SandboxFinding =
  { ok: true; path: string; version: string } | { ok: false; reason: string; remedy: string };

const probeMs = 5_000;
const foundForMs = 60_000;
let last: { at: number; path: string; finding: Promise<SandboxFinding> } | undefined;

/** Whether this host can run a sandbox: it is tried, not guessed. Known for a minute. */
export function findSandbox(of: string = process.env['PATH'] ?? '', project?: string): Promise<SandboxFinding> {
  const now = performance.now();
  const path = helperPath(project, of);
  if (last === undefined || last.path !== path || now - last.at > foundForMs)
    last = { at: now, path, finding: probe(path) };
  return last.finding;
}

const NO_FILTER = {
  ok: false,
  reason: `Sentinel has no filter of system calls for processors of the kind "${process.arch}"`,
  remedy: 'Run the worker on x64 or arm64.',
} as const;

async function probe(path: string): Promise<SandboxFinding> {
  if (process.platform !== 'linux') {
    return {
      ok: false,
      reason: `bubblewrap needs Linux, and this is ${process.platform}`,
      remedy: 'Run the worker in a Linux container or machine.',
    };
  }
  const found = findHelper('bwrap', path);
  if (found === null) {
    return { ok: false, reason: 'bubblewrap (bwrap) is not on PATH', remedy: 'Install the package "bubblewrap".' };
  }
  const filter = callFilter({ allowsSetgid: false });
  if (filter === null) return NO_FILTER;
  const { complaint, leaks } = await trySandbox(found, [...isolation(), ...systemMounts()], { filter });
  if (complaint !== null) {
    return {
      ok: false,
      reason: `bubblewrap does not work here: ${complaint}`,
      remedy: complaint.includes('SECCOMP')
        ? 'Run the worker on a kernel with CONFIG_SECCOMP_FILTER.'
        : 'Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0; in a container --security-opt for seccomp, apparmor and systempaths, see docs/deployment.md).',
    };
  }
  if (leaks.length > 0) {
    return {
      ok: false,
      reason: `its sandbox does not hold here: ${leaks.join('; ')}`,
      remedy: 'Run the worker as an ordinary user, or on a host where it holds.',
    };
  }
  const blind = await tryView(found, [...isolation(), ...systemMounts()]);
  if (blind !== null) {
    return {
      ok: false,
      reason: `the worker cannot examine what its sandbox shows: ${blind}`,
      remedy: 'Use a bubblewrap that is not setuid, and a worker that sees its own processes in /proc.',
    };
  }
  const version = await runHelper(found, ['--version'], { timeoutMs: probeMs });
  return { ok: true, path: found, version: /\d+(\.\d+)+/.exec(version.stdout)?.[0] ?? 'unknown' };
}

/** What a worker says when it starts: null where its sandbox holds, and where it has none to try. */
export async function sandboxDoubt(path: string = process.env['PATH'] ?? ''): Promise<string | null> {
  if (findHelper('bwrap', helperPath(undefined, path)) === null) return null;
  const finding = await findSandbox(path);
  return finding.ok ? null : `"sandboxed" runs are refused here: ${finding.reason}. ${finding.remedy}`;
}

/** The same process, inside. */
export async function sandboxed(launch: Launch, project: string, request: SandboxRequest = {}): Promise<Launch> {
  const root = realpathSync(project);
  const path = helperPath(root);
  const finding = await findSandbox(process.env['PATH'], root);
  if (!finding.ok) throw unavailable(`the run is "sandboxed", and ${finding.reason}. ${finding.remedy}`);
  const exposed = [homedir(), '/root', '/tmp', ...systemFolders].find((folder) => isBelow(folder, root));
  if (exposed !== undefined) {
    throw unavailable(
      `the run is "sandboxed", and its project ${project} holds ${exposed}, which a sandbox has to hide; start the run in a folder of its own`,
    );
  }
  const owner = strangerTo(statSync(root));
  if (owner !== null) {
    throw unavailable(
      `the run is "sandboxed", and its project ${project} belongs to user ${owner}, who lets nobody else in: a sandbox of a worker of root has no right of root; run the worker as that user, or let others into the folder (chmod)`,
    );
  }
  const separated = Object.entries(launch.env).find(([name, value]) => `${name}${value}`.includes('\0'));
  // The options are told apart by NUL bytes: one in a value would begin another option.
  if (separated !== undefined)
    throw new Failure(
      'SHELL_NOT_STARTED',
      `the variable "${separated[0].replaceAll('\0', '\\0')}" holds a NUL byte; take it out`,
    );
  const filter = callFilter({ allowsSetgid: allowsSetgid(root, request) });
  if (filter === null) throw unavailable(`the run is "sandboxed", and ${NO_FILTER.reason}. ${NO_FILTER.remedy}`);
  const view = await ProjectView.make(root, async () => lookedAt(root, await findProtectedPlaces(root), request));
  const options = [
    ...isolation(),
    ...systemMounts(),
    ...programFolders().flatMap((folder) => ['--ro-bind', folder, folder]),
    ...hiddenHomes(root),
    ...(request.readable ?? []).flatMap((file) => ['--ro-bind', file, file]),
    ...hiddenSockets(root),
    ...view.looked.outside.filter(isVisible).flatMap((file) => ['--ro-bind', '/dev/null', file]),
    ...view.options(FIRST_INHERITED),
    '--seccomp',
    String(FIRST_INHERITED - 1),
    '--remount-ro',
    '/',
    '--chdir',
    launch.cwd,
    '--clearenv',
    ...Object.entries({ ...launch.env, HOME: '/tmp/home', TMPDIR: '/tmp' }).flatMap(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
  ];
  return {
    file: finding.path,
    args: ['--args', String(FIRST_INHERITED - 2), '--', launch.file, ...launch.args],
    cwd: root,
    env: { ...helperEnvironment(path), ...request.markers },
    told: [Buffer.from(options.map((option) => `${option}\0`).join('')), filter],
    view,
    missing: view.looked.missing,
  };
}

/** The owner of a project that a worker of root does not enter once its process has given up root's rights; null where it does. */
function strangerTo({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): number | null {
  if (process.getuid?.() !== 0 || uid === 0) return null;
  const shift = gid === process.getgid?.() ? 3 : 0;
  return ((mode >> shift) & 0o5) === 0o5 ? null : uid;
}

/** After the streams, the options and the filter. */
const FIRST_INHERITED = 5;

/** Git passes a folder's group on by the bit, and starts no program of the project. */
const allowsSetgid = (root: string, { repository }: SandboxRequest): boolean =>
  repository !== undefined || (statSync(root).mode & S_ISGID) !== 0;

/** What is in the project, and is not the step's: homes are not there, what runs later is read-only. */
function lookedAt(
  root: string,
  { homes, repositories, bare, secrets, sockets, runLater, caches, missing }: ProtectedPlaces,
  { repository, withoutSecrets }: SandboxRequest,
): Looked {
  const others = repositories.filter((path) => path !== repository?.folder);
  const readOnly = [...others, ...runLater];
  const link = [...REPOSITORIES.map((name) => join(root, name)), ...readOnly].find(
    (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
  );
  if (link !== undefined) {
    throw unavailable(
      `the run is "sandboxed", and ${link} is a symbolic link, which a sandbox cannot keep from being replaced; put what it leads to in its place`,
    );
  }
  const unread = [...secrets, ...[...others, ...bare].map((place) => ({ place }))];
  const hidden = withoutSecrets === undefined ? [] : hiddenPlaces(root, unread, withoutSecrets);
  const written: Shown[] =
    repository === undefined ? [] : [{ place: join(repository.folder, 'config'), as: 'file', file: repository.config }];
  return {
    shown: [
      ...homes.map((place): Shown => ({ place, as: 'empty-folder' })),
      ...hidden.filter((place) => isBelow(place, root)).map(emptied),
      ...sockets.map((place): Shown => ({ place, as: 'empty-file' })),
      ...readOnly.map((place): Shown => ({ place, as: 'read-only' })),
      ...caches.map((place): Shown => ({ place, as: 'itself' })),
      ...written,
    ],
    outside: hidden.filter((place) => !isBelow(place, root)),
    missing,
  };
}

const emptied = (place: string): Shown => ({
  place,
  as: lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true ? 'empty-folder' : 'empty-file',
});

function hiddenPlaces(
  root: string,
  secrets: readonly SecretPlace[],
  { but }: NonNullable<SandboxRequest['withoutSecrets']>,
): string[] {
  const named = but.map((file) => resolve(root, file));
  return secrets
    .filter(({ place, link = place }) => !named.some((file) => isBelow(place, file) || isBelow(link, file)))
    .map(({ place }) => place)
    .filter((place) => !isBelow(root, place));
}

function unavailable(message: string): Failure {
  return new Failure('SANDBOX_NOT_AVAILABLE', message);
}

/** bwrap's own complaint, when what ended was bwrap and not the program. */
export function sandboxComplaint(exitCode: number | null, stderr: string): string | null {
  return exitCode === 1 && stderr.startsWith('bwrap: ') ? (stderr.split('\n')[0] ?? '').slice('bwrap: '.length) : null;
}
