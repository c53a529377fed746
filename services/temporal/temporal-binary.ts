/**
 * Finds a Temporal CLI, whose `server start-dev` is the embedded server. In order: on PATH; kept
 * from an earlier time in the cache; downloaded by the Temporal SDK; built with Go. Every step that
 * fails says why, so that the last error explains what the user can do.
 */
import { accessSync, constants, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { delimiter, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolders } from '../home/home-files.ts';
import { runToEnd } from '../processes/run-to-end.ts';

/** Later versions carry a replace directive, which `go install` refuses. */
const GO_PACKAGE = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const DOWNLOAD_MAX_MS = 3 * 60_000;
const BUILD_MAX_MS = 20 * 60_000;
/** A busy disk reads a hundred megabytes slowly; what is taken for broken is built anew, for minutes. */
const VERSION_MAX_MS = 60_000;

export interface TemporalBinary {
  path: string;
  foundAs: string;
  version: string;
}

export interface Search {
  cacheDir: string;
  onProgress: (text: string) => void;
  signal: AbortSignal;
  env?: NodeJS.ProcessEnv;
}

/** Throws an error that lists what was tried and what to do. */
export async function findTemporalBinary(search: Search): Promise<TemporalBinary> {
  const tried: string[] = [];
  const present = await findPresentTemporal(search, tried);
  if (present !== null) return present;
  const target = join(search.cacheDir, 'bin', 'temporal');
  for (const [foundAs, obtain] of [
    ['downloaded by the Temporal SDK', download],
    ['built with go install', build],
  ] as const) {
    try {
      await obtain(search, target);
      return { path: target, foundAs, version: await versionOf(target) };
    } catch (error) {
      search.signal.throwIfAborted();
      tried.push(`${foundAs}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(
    `No Temporal server could be found. Install the Temporal CLI so that \`temporal\` is on PATH, ` +
      `or install Go, or set TEMPORAL_ADDRESS to a server of yours. Tried:\n${tried.map((line) => `  - ${line}`).join('\n')}`,
  );
}

/** Only what is on this machine already; null when there is none. */
export async function findPresentTemporal(
  { cacheDir, env = process.env }: Pick<Search, 'cacheDir' | 'env'>,
  tried: string[] = [],
): Promise<TemporalBinary | null> {
  const candidates = [
    ['temporal on PATH', onPath('temporal', env)],
    ['kept in the cache', executable(join(cacheDir, 'bin', 'temporal'))],
  ] as const;
  for (const [foundAs, path] of candidates) {
    if (path === null) {
      tried.push(`${foundAs}: there is none`);
      continue;
    }
    try {
      return { path, foundAs, version: await versionOf(path) };
    } catch (error) {
      tried.push(`${path} does not run: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return null;
}

/**
 * The SDK downloads the CLI when it starts a server of its own, and leaves it under a name that
 * carries the SDK's version. A process of its own does that, so that a stalled download can be ended.
 */
async function download(search: Search, target: string): Promise<void> {
  search.onProgress('downloading the Temporal server');
  const folder = join(search.cacheDir, 'download');
  makeFolders(folder);
  const here = fileURLToPath(import.meta.url);
  const script = join(here, '..', `temporal-download${extname(here)}`);
  await runToEnd(process.execPath, [script, folder], { timeoutMs: DOWNLOAD_MAX_MS, signal: search.signal });
  const left = readdirSync(folder)
    .filter((name) => name.startsWith('temporal-') && executable(join(folder, name)) !== null)
    .map((name) => join(folder, name))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (left === undefined) throw new Error(`the download left no executable in ${folder}`);
  moveInto(left, target);
}

async function build(search: Search, target: string): Promise<void> {
  const go = onPath('go', search.env ?? process.env);
  if (go === null) throw new Error('there is no `go` on PATH');
  search.onProgress('building the Temporal server with go, this takes about 4 minutes once');
  const folder = join(search.cacheDir, `build-${process.pid}`);
  makeFolders(folder);
  try {
    await runToEnd(go, ['install', GO_PACKAGE], {
      timeoutMs: BUILD_MAX_MS,
      signal: search.signal,
      env: { ...(search.env ?? process.env), GOBIN: folder },
    });
    moveInto(join(folder, 'temporal'), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One rename, so that nobody ever starts half a program. */
function moveInto(source: string, target: string): void {
  makeFolders(join(target, '..'));
  renameSync(source, target);
}

async function versionOf(path: string): Promise<string> {
  const text = await runToEnd(path, ['--version'], { timeoutMs: VERSION_MAX_MS });
  return /Server (\d+\.\d+\.\d+)/.exec(text)?.[1] ?? text.trim();
}

export function onPath(name: string, env: NodeJS.ProcessEnv): string | null {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const path = folder === '' ? null : executable(join(folder, name));
    if (path !== null) return path;
  }
  return null;
}

function executable(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? path : null;
  } catch {
    return null;
  }
}
