/**
 * `mode: sandboxed`: a step's process under bubblewrap (`bwrap`).
 *
 * - X1 Outside the project nothing is written: what is visible is read-only, `/tmp` is the step's own
 *      and goes with it.
 * - X2 What is visible beside the project is a list: the system's programs and libraries, the folders
 *      of the worker's own PATH, and this Node. Home folders, `/run` (sockets), `/var`, `/mnt` are not on
 *      it, nor is the data of Sentinel's own services. In the project, what runs later is read-only
 *      (protected-places.ts).
 * - X3 There is no network, not even the host's loopback, and no process of the host is seen.
 * - X4 The inside dies with the worker, and with the step's process group.
 * - X5 Where bubblewrap does not work, nothing runs: there is no weaker sandbox.
 * - X6 Nothing of the step decides how the sandbox is made. bwrap has an environment of its own; the step's
 *      variables go in through a pipe, where the list of processes does not show them.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { Failure } from '../failures/failures.ts';
import { findHelper, helperEnvironment, helperPath, isBelow, runHelper } from './helper-programs.ts';
import { findProtectedPlaces, type ProtectedPlaces } from './protected-places.ts';
import { trySandbox } from './sandbox-probe.ts';

export interface Launch {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** What the process reads from its descriptor 3. */
  options?: Buffer;
  /** Places that may not come into being while it runs. */
  missing?: readonly string[];
}

/** What a sandbox shows beside the usual. */
export interface SandboxRequest {
  /** Files and folders outside the project that may be read. */
  readable?: readonly string[];
  /** Variables of the outer process as well: by them an orphan is found. */
  markers?: Record<string, string>;
  /** A repository of the project that git itself is to write, with the configuration that it may have. */
  repository?: { folder: string; config: string };
  /** Its files with secrets, and what its repositories reach remotes with, are empty, but for those of these names. */
  withoutSecrets?: { but: readonly string[] };
}

export type SandboxFinding =
  { ok: true; path: string; version: string } | { ok: false; reason: string; remedy: string };

const systemFolders = ['/bin', '/etc', '/gnu', '/lib', '/lib32', '/lib64', '/libx32', '/nix', '/opt', '/sbin', '/usr'];

/** A worker of root could read these, so nothing inside may. */
const masked = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssh',
  '/etc/ssl/private',
  '/etc/kubernetes',
];

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
  const { complaint, leaks } = await trySandbox(found, [...isolation(), ...systemMounts()]);
  if (complaint !== null) {
    return {
      ok: false,
      reason: `bubblewrap does not work here: ${complaint}`,
      remedy:
        'Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0; in a container --security-opt for seccomp, apparmor and systempaths, see docs/deployment.md).',
    };
  }
  if (leaks.length > 0) {
    return {
      ok: false,
      reason: `its sandbox does not hold here: ${leaks.join('; ')}`,
      remedy: 'Run the worker as an ordinary user, or on a host where it holds.',
    };
  }
  const version = await runHelper(found, ['--version'], { timeoutMs: probeMs });
  return { ok: true, path: found, version: /\d+(\.\d+)+/.exec(version.stdout)?.[0] ?? 'unknown' };
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
  const separated = Object.entries(launch.env).find(([name, value]) => `${name}${value}`.includes('\0'));
  // The options are told apart by NUL bytes: one in a value would begin another option.
  if (separated !== undefined)
    throw new Failure(
      'SHELL_NOT_STARTED',
      `the variable "${separated[0].replaceAll('\0', '\\0')}" holds a NUL byte; take it out`,
    );
  const places = await findProtectedPlaces(root);
  const options = [
    ...isolation(),
    ...systemMounts(),
    ...programFolders().flatMap((folder) => ['--ro-bind', folder, folder]),
    ...hiddenHomes(root),
    ...(request.readable ?? []).flatMap((file) => ['--ro-bind', file, file]),
    '--bind',
    root,
    root,
    ...projectMounts(root, places, request),
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
    args: ['--args', '3', '--', launch.file, ...launch.args],
    cwd: root,
    env: { ...helperEnvironment(path), ...request.markers },
    options: Buffer.from(options.map((option) => `${option}\0`).join('')),
    missing: places.missing,
  };
}

/** What is in the project, and is not the step's: homes are not there, what runs later is read-only. */
function projectMounts(
  root: string,
  { homes, repositories, secrets, runLater }: ProtectedPlaces,
  { repository, withoutSecrets }: SandboxRequest,
): string[] {
  const readOnly = [...repositories, ...runLater].filter((path) => path !== repository?.folder);
  const link = [join(root, '.git'), ...readOnly].find(
    (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
  );
  if (link !== undefined) {
    throw unavailable(
      `the run is "sandboxed", and ${link} is a symbolic link, which a sandbox cannot keep from being replaced; put what it leads to in its place`,
    );
  }
  return [
    ...homes.flatMap((home) => ['--tmpfs', home]),
    ...readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...hiddenFiles(root, [...secrets, ...configurationsIn(repositories)], withoutSecrets),
    ...(repository === undefined ? [] : ['--ro-bind', repository.config, join(repository.folder, 'config')]),
  ];
}

/** They hold what remotes are reached with. */
const configurationsIn = (repositories: readonly string[]): string[] =>
  repositories.map((repository) => join(repository, 'config')).filter((path) => existsSync(path));

function hiddenFiles(root: string, secrets: readonly string[], without: SandboxRequest['withoutSecrets']): string[] {
  if (without === undefined) return [];
  const named = without.but.map((file) => join(root, file));
  return secrets
    .filter((file) => !named.some((place) => isBelow(file, place)))
    .flatMap((file) => ['--ro-bind', '/dev/null', file]);
}

/** Homes of Sentinel in what is visible outside the project: this worker's, and those of other installations. */
function hiddenHomes(root: string): string[] {
  const places = ['/opt', '/usr/local', '/usr/local/lib/node_modules', '/usr/lib/node_modules'];
  const named = places.flatMap((place) => childrenOf(place).map((name) => join(place, name, '.sentinel')));
  const homes = [process.env['SENTINEL_HOME'] ?? '', ...named].filter((home) => existsSync(home));
  const visible = [...systemFolders, ...programFolders()];
  return [...new Set(homes.map((home) => realpathSync(home)))]
    .filter((home) => visible.some((folder) => isBelow(home, folder)) && !isBelow(root, home))
    .flatMap((home) => ['--tmpfs', home]);
}

function childrenOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function unavailable(message: string): Failure {
  return new Failure('SANDBOX_NOT_AVAILABLE', message);
}

/** bwrap's own complaint, when what ended was bwrap and not the program. */
export function sandboxComplaint(exitCode: number | null, stderr: string): string | null {
  return exitCode === 1 && stderr.startsWith('bwrap: ') ? (stderr.split('\n')[0] ?? '').slice('bwrap: '.length) : null;
}

function isolation(): string[] {
  const unshared = [
    '--unshare-user-try',
    '--unshare-ipc',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-uts',
    '--unshare-cgroup-try',
  ];
  // Root may write the kernel's settings without any capability: much in there only asks for the user's id.
  const settings = process.getuid?.() === 0 ? ['--remount-ro', '/proc'] : [];
  return [...unshared, '--cap-drop', 'ALL', '--die-with-parent', '--proc', '/proc', ...settings, '--dev', '/dev'];
}

function systemMounts(): string[] {
  const mounts = systemFolders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => {
      // On most systems /bin is a link to usr/bin, and a mount over a link would be one into it.
      return lstatSync(folder).isSymbolicLink()
        ? ['--symlink', readlinkSync(folder), folder]
        : ['--ro-bind', folder, folder];
    });
  const masks = masked
    .filter((path) => existsSync(path))
    .flatMap((path) => (lstatSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]));
  return [...mounts, ...masks, '--tmpfs', '/tmp', '--dir', '/tmp/home', '--tmpfs', '/var/tmp'];
}

/** Folders with programs that the system's do not hold: those of the worker's PATH, and the one this Node was installed in. */
function programFolders(): string[] {
  const path = process.env['PATH'] ?? '';
  const prefix = dirname(dirname(process.execPath));
  const isOwn = prefix !== sep && prefix !== homedir() && existsSync(join(prefix, 'lib', 'node_modules'));
  const named = [...path.split(delimiter), ...(isOwn ? [prefix] : [])];
  const real = named.filter((folder) => isAbsolute(folder) && existsSync(folder) && lstatSync(folder).isDirectory());
  const hidden = real.filter((folder) => !systemFolders.some((visible) => isBelow(folder, visible)));
  return [...new Set(hidden)].filter((folder) => !isBelow(homedir(), folder) && folder !== '/tmp');
}
