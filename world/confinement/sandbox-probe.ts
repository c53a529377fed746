/**
 * What a sandbox has to keep from a process, tried from inside before any step runs there: having no capabilities is
 * not having no power, since much of the kernel only asks for the user's id.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { helperEnvironment, runHelper } from '../own-programs/helper-programs.ts';
import { gateOf, ProjectView } from './project-view.ts';

const probeMs = 5_000;
const viewMs = 10_000;

/** Settings of the kernel that belong to no namespace of the sandbox. */
const SETTINGS = [
  '/proc/sysrq-trigger',
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/vm/*',
];
/** To root all of them, and what else `/proc` has beside processes. */
const ALL = ['/proc/[!0-9]*', '/proc/[!0-9s]*/*', '/proc/sys/*/*', '/proc/sys/*/*/*', '/proc/sys/*/*/*/*', '/sys/*'];

/** Of the shell itself, since a host may have no other program in common with the next. */
const script = (places: readonly string[]): string => `
for place in ${places.join(' ')}; do
  if [ -f "$place" ] && [ ! -L "$place" ] && [ -w "$place" ] && (: >> "$place") 2>/dev/null; then
    echo "a process in it can write $place"
    break
  fi
done
while read -r name value rest; do
  case "$name $value" in
    CapEff:*[1-9a-f]* | CapPrm:*[1-9a-f]*) echo 'a process in it has capabilities';;
    'NoNewPrivs: 0') echo 'a process in it can gain privileges';;
  esac
done < /proc/self/status
while read -r name rest; do
  case "$name" in
    lo:* | Inter-* | face) ;;
    *:*) echo "a process in it has the network interface $name";;
  esac
done < /proc/net/dev
if (: > /dev/shm/made && chmod u+s /dev/shm/made) 2>/dev/null && [ -u /dev/shm/made ]; then
  echo 'a process in it can make a program that runs as the user of the worker'
fi
`;

interface Trying {
  /** Of system calls. */
  filter?: Buffer | null;
  /** Settings of the kernel. */
  places?: readonly string[];
}

export interface SandboxTry {
  /** It could not be made at all. */
  complaint: string | null;
  /** What it does not keep from a process. */
  leaks: string[];
}

export async function trySandbox(
  program: string,
  options: readonly string[],
  { filter = null, places = process.getuid?.() === 0 ? ALL : SETTINGS }: Trying = {},
): Promise<SandboxTry> {
  const filtered = filter === null ? [] : ['--seccomp', '3'];
  const tried = await runHelper(program, [...filtered, ...options, '--', '/bin/sh', '-c', script(places)], {
    timeoutMs: probeMs,
    ...(filter === null ? {} : { told: filter }),
  });
  if (tried.exitCode !== 0) {
    const said = tried.stderr.trim().split('\n').at(-1) ?? '';
    return { complaint: said === '' ? 'it gave no reason' : said, leaks: [] };
  }
  return { complaint: null, leaks: tried.stdout.split('\n').filter(Boolean) };
}

/** Whether what a sandbox shows can be looked at from outside, in a project of its own; what is in the way, or null. */
export async function tryView(program: string, options: readonly string[]): Promise<string | null> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sentinel-view-')));
  const kept = join(root, 'kept');
  try {
    await mkdir(kept);
    const shown = [{ place: kept, as: 'read-only' } as const];
    const view = await ProjectView.make(root, () => Promise.resolve({ shown, outside: [], missing: [] }));
    const child = spawn(program, [...options, ...view.options(3), '--', '/bin/true'], {
      stdio: ['ignore', 'ignore', 'ignore', ...view.descriptors, 'pipe', 'pipe'],
      env: helperEnvironment(),
    });
    view.close();
    const exit = new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
      child.once('error', () => resolve(null));
    });
    const [info, gate] = child.stdio.slice(-2);
    const examined = view.examine(info as Readable, exit, gateOf(gate as Writable));
    const found = await Promise.race([examined, sleep(viewMs, 'late' as const, { ref: false })]);
    if (found !== null) child.kill('SIGKILL');
    const code = await exit;
    if (found === 'late') return 'its list of mounts is not to be seen';
    return found?.message ?? (code === 0 ? null : `it ended with ${String(code)}`);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
