/**
 * Git and ripgrep read rules of a project by themselves. Where a step has put a named pipe in the place of one, they
 * would wait for somebody who writes to it: here its writing end is opened and closed, so they read nothing and go on.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const RULES: ReadonlySet<string> = new Set(['.gitignore', '.gitattributes', '.gitmodules', '.ignore', '.rgignore']);

/** Programs that nothing holds are through with the rules by then, in most projects. */
const firstAfterMs = 2_000;
const everyMs = 500;
/** A walk is long in a large project, where such a program takes long by itself. */
const walksEvery = 10;
const foldersMax = 50_000;

/** From now on, until it is ended. */
export function wakePipes(root: string): { end(): void } {
  let isEnded = false;
  let known: string[] = [];
  let timer = setTimeout(() => void look(0), firstAfterMs);
  const look = async (times: number): Promise<void> => {
    if (times % walksEvery === 0) known = await pipesIn(root, () => isEnded);
    for (const pipe of known) wake(pipe);
    if (!isEnded) timer = setTimeout(() => void look(times + 1), everyMs);
  };
  return {
    end() {
      isEnded = true;
      clearTimeout(timer);
    },
  };
}

async function pipesIn(root: string, isEnded: () => boolean): Promise<string[]> {
  const found: string[] = [];
  const waiting = [root];
  for (let looked = 0; looked < foldersMax && !isEnded(); looked += 1) {
    const folder = waiting.pop();
    if (folder === undefined) break;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.isDirectory()) waiting.push(join(folder, entry.name));
      else if (entry.isFIFO() && RULES.has(entry.name)) found.push(join(folder, entry.name));
    }
  }
  return found;
}

/** Fails where nobody waits for it. */
function wake(pipe: string): void {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW));
  } catch {
    // Nobody reads it, or it is there no more.
  }
}
