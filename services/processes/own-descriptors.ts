/**
 * Closes what this process was given open beside its standard streams: a folder of a shell (`exec 9<.`), a lock. Steps
 * inherit what the worker has open, and through a folder a sandboxed one would leave its view. What Node.js opens for
 * itself is closed on exec and is left alone, and so is the channel to a process that forked this one.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;
const FIRST = 3;

export function closeInherited(): void {
  const channel = Number(process.env['NODE_CHANNEL_FD']);
  for (const name of namesIn('/proc/self/fd')) {
    const descriptor = Number(name);
    if (descriptor < FIRST || descriptor === channel || !isInherited(descriptor)) continue;
    try {
      closeSync(descriptor);
    } catch {
      // The look at the folder itself had it.
    }
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false;
  }
}

/** None where there is no /proc: no mode holds processes in there. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
