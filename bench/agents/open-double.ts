/** The double of a model (double.ts) in a process of its own, until it is ended. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export async function openDouble(): Promise<{ url: string; end(): void }> {
  const child = fork(fileURLToPath(new URL('double.js', import.meta.url)));
  const [url] = (await once(child, 'message')) as [string];
  return { url, end: () => void child.kill() };
}
