/**
 * The Python environment of the trainer (`trainer/`): one for each lock file, in the cache of this user, so that no
 * project holds gigabytes and a new version of Sentinel never changes the environment of an older one.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as z from 'zod';
import { ownRoot } from '../home/package-root.ts';
import { ServicesError } from '../config/services-error.ts';

/** Python packages by version and hash, resolved for every platform that the registry has them for. */
const LOCK = join('locks', 'pypi.txt');
/** Written last: without it an environment is one that was not finished. */
const MARK = 'installed.json';

const Installed = z.object({ lock: z.string(), by: z.enum(['uv', 'pip']), python: z.string(), at: z.string() });
export type Installed = z.infer<typeof Installed>;

export interface TrainerEnvironment {
  /** The folder of the Python package. */
  source: string;
  lockFile: string;
  /** SHA-256 of the lock file. */
  lock: string;
  folder: string;
  python: string;
  mark: string;
  /** Null where it has not been installed, or not to its end. */
  installed: Installed | null;
  isUnfinished: boolean;
}

/** Where the environment is, and whether it is there. Throws `ServicesError` where the trainer is missing from this installation. */
export function trainerEnvironment(cacheDir: string, source: string = join(ownRoot, 'trainer')): TrainerEnvironment {
  const lockFile = join(source, LOCK);
  if (!existsSync(lockFile))
    throw new ServicesError(`${lockFile} is not there, and belongs to Sentinel: install Sentinel again.`);
  const lock = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  const folder = join(cacheDir, 'trainer', lock.slice(0, 16));
  const mark = join(folder, MARK);
  const python = join(folder, 'bin', 'python');
  const installed = existsSync(python) ? readMark(mark, lock) : null;
  return {
    source,
    lockFile,
    lock,
    folder,
    python,
    mark,
    installed,
    isUnfinished: installed === null && existsSync(folder),
  };
}

function readMark(path: string, lock: string): Installed | null {
  try {
    const found = Installed.parse(JSON.parse(readFileSync(path, 'utf8')));
    return found.lock === lock ? found : null;
  } catch {
    return null;
  }
}

/** What a process of the trainer is started with: the package is used where it lies, and nothing is written beside it. */
export function trainerVariables(environment: TrainerEnvironment, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = env['PYTHONPATH'] ?? '';
  return {
    ...env,
    PYTHONPATH: own === '' ? environment.source : `${environment.source}${delimiter}${own}`,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
    // Models come from files, or from the hub when a plan names one; nothing is reported to anybody.
    HF_HUB_DISABLE_TELEMETRY: '1',
    TOKENIZERS_PARALLELISM: 'false',
  };
}
