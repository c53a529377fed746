/**
 * `mode: sandboxed`: a step's process under bubblewrap (`bwrap`).
 *
 * - X1 Outside the project nothing is written: what is visible is read-only, `/tmp` is the step's own
 *      and goes with it.
 * - X2 What is visible beside the project is a list: the system's programs and libraries, the folders
 *      of PATH, and this Node. Home folders, `/run` (sockets), `/var`, `/mnt` are not on it, nor is the
 *      data of Sentinel's own services.
 * - X3 There is no network, not even the host's loopback, and no process of the host is seen.
 * - X4 The inside dies with the worker, and with the step's process group.
 * - X5 Where bubblewrap does not work, nothing runs: there is no weaker sandbox.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../failures/failures.ts';

export interface Launch {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
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
export function findSandbox(path: string = process.env['PATH'] ?? ''): Promise<SandboxFinding> {
  const now = performance.now();
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
  const found = path
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => isAbsolute(file) && existsSync(file));
  if (found === undefined) {
    return { ok: false, reason: 'bubblewrap (bwrap) is not on PATH', remedy: 'Install the package "bubblewrap".' };
  }
  const tried = await execa(found, [...isolation(), ...systemMounts(), '--', '/bin/true'], {
    reject: false,
    timeout: probeMs,
    stdin: 'ignore',
  });
  if (tried.exitCode !== 0) {
    const said = tried.stderr.trim().split('\n').at(-1) ?? '';
    return {
      ok: false,
      reason: `bubblewrap does not work here: ${said === '' ? 'it gave no reason' : said}`,
      remedy:
        'Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0; in a container --security-opt seccomp=unconfined).',
    };
  }
  const version = await execa(found, ['--version'], { reject: false, timeout: probeMs, stdin: 'ignore' });
  return { ok: true, path: found, version: /\d+(\.\d+)+/.exec(version.stdout)?.[0] ?? 'unknown' };
}

/** The same process, inside. `readable` names further files and folders it may see. */
export async function sandboxed(launch: Launch, project: string, readable: readonly string[] = []): Promise<Launch> {
  const finding = await findSandbox();
  if (!finding.ok) throw unavailable(`the run is "sandboxed", and ${finding.reason}. ${finding.remedy}`);
  const root = realpathSync(project);
  const exposed = [homedir(), '/root', '/tmp', ...systemFolders].find((folder) => isInside(folder, root));
  if (exposed !== undefined) {
    throw unavailable(
      `the run is "sandboxed", and its project ${project} holds ${exposed}, which a sandbox has to hide; start the run in a folder of its own`,
    );
  }
  const args = [
    ...isolation(),
    ...systemMounts(),
    ...programFolders(launch.env['PATH'] ?? '').flatMap((folder) => ['--ro-bind', folder, folder]),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    '--bind',
    root,
    root,
    ...(existsSync(join(root, '.sentinel')) ? ['--tmpfs', join(root, '.sentinel')] : []),
    '--remount-ro',
    '/',
    '--chdir',
    launch.cwd,
    '--',
    launch.file,
    ...launch.args,
  ];
  return { file: finding.path, args, cwd: root, env: { ...launch.env, HOME: '/tmp/home', TMPDIR: '/tmp' } };
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
  return [...unshared, '--cap-drop', 'ALL', '--die-with-parent', '--proc', '/proc', '--dev', '/dev'];
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

/** Folders with programs that the system's do not hold: those of PATH, and the one this Node was installed in. */
function programFolders(path: string): string[] {
  const prefix = dirname(dirname(process.execPath));
  const isOwn = prefix !== sep && prefix !== homedir() && existsSync(join(prefix, 'lib', 'node_modules'));
  const named = [...path.split(delimiter), ...(isOwn ? [prefix] : [])];
  const real = named.filter((folder) => isAbsolute(folder) && existsSync(folder) && lstatSync(folder).isDirectory());
  const hidden = real.filter((folder) => !systemFolders.some((visible) => isInside(folder, visible)));
  return [...new Set(hidden)].filter((folder) => !isInside(homedir(), folder) && folder !== '/tmp');
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
