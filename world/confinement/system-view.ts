/** What a sandbox shows beside the project, and what it takes away: the same for all of its projects. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { isBelow } from '../own-programs/helper-programs.ts';

export const systemFolders = [
  '/bin',
  '/etc',
  '/gnu',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix',
  '/opt',
  '/sbin',
  '/usr',
];

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

/** Homes of Sentinel in what is visible outside the project: this worker's, and those of other installations. */
export function hiddenHomes(root: string): string[] {
  const places = ['/opt', '/usr/local', '/usr/local/lib/node_modules', '/usr/lib/node_modules'];
  const named = places.flatMap((place) => childrenOf(place).map((name) => join(place, name, '.sentinel')));
  const homes = [process.env['SENTINEL_HOME'] ?? '', ...named].filter((home) => existsSync(home));
  return [...new Set(homes.map((home) => realpathSync(home)))]
    .filter((home) => isVisible(home) && !isBelow(root, home))
    .flatMap((home) => ['--tmpfs', home]);
}

/** Sockets in what is visible outside the project: a service takes what is written to one also where its folder is read-only. */
export function hiddenSockets(root: string): string[] {
  return [...new Set(listeningSockets())]
    .filter((path) => isVisible(path) && !isBelow(path, root) && isSocket(path))
    .map((path) => realpathSync(path))
    .filter((path) => isVisible(path) && !isBelow(path, root))
    .flatMap((path) => ['--ro-bind', '/dev/null', path]);
}

/** Of this host, as whoever listens has named them: maybe from its own folder. */
export function listeningSockets(): string[] {
  const table = '/proc/net/unix';
  const lines = existsSync(table) ? readFileSync(table, 'utf8').split('\n') : [];
  return lines.flatMap((line) => /^\S+: (?:\S+ +){6}([^@\s].*)$/.exec(line)?.[1] ?? []);
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}

/** Whether a sandbox shows what is there, beside its project. */
export const isVisible = (path: string): boolean =>
  [...systemFolders, ...programFolders()].some((folder) => isBelow(path, folder));

function childrenOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function isolation(): string[] {
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

export function systemMounts(): string[] {
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
export function programFolders(): string[] {
  const path = process.env['PATH'] ?? '';
  const prefix = dirname(dirname(process.execPath));
  const isOwn = prefix !== sep && prefix !== homedir() && existsSync(join(prefix, 'lib', 'node_modules'));
  const named = [...path.split(delimiter), ...(isOwn ? [prefix] : [])];
  const real = named.filter((folder) => isAbsolute(folder) && existsSync(folder) && lstatSync(folder).isDirectory());
  const hidden = real.filter((folder) => !systemFolders.some((visible) => isBelow(folder, visible)));
  return [...new Set(hidden)].filter((folder) => !isBelow(homedir(), folder) && folder !== '/tmp');
}
