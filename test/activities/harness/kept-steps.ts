/** Shell steps whose process outlives the worker that started it: a worker that can be killed, and the one that comes next. */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { execa } from 'execa';
import { beforeAll, onTestFinished } from 'vitest';
import type { Confinement } from '../../../language/permissions.ts';
import { defined } from '../../../language/defined.ts';
import type { ShellRequest } from '../../../operations/shell/request.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { secretsOf } from '../../../operations/secrets/secrets.ts';
import type { LogChunk } from '../../../prisma/store/contract/contract.ts';
import { ARMED } from '../../../world/crash-points/armed-deaths.ts';
import type { CrashPoint } from '../../../world/crash-points/catalogue.ts';
import { keptIdOf, KeptFolder } from '../../../world/processes/kept/kept-folder.ts';
import { KeptProcesses } from '../../../world/processes/kept/kept-processes.ts';
import { workerMarker } from '../../../world/processes/orphans.ts';
import { MemoryLog, shellContext, temporaryFolder, type TestContext } from './step-context.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let workerFile = '';
let steps = 0;

beforeAll(async () => {
  workerFile = join(root, 'dist', `kept-worker-${process.pid}.mjs`);
  await build({
    stdin: { contents: WORKER, resolveDir: root, loader: 'ts' },
    outfile: workerFile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return () => rm(workerFile, { force: true });
});

/** Runs one step, and writes down each chunk of its log. */
const WORKER = `
  import { appendFileSync } from 'node:fs';
  import { runShell } from './operations/shell/run-shell.ts';
  import { KeptProcesses } from './world/processes/kept/kept-processes.ts';
  import { workerMarker } from './world/processes/orphans.ts';
  import { secretsOf } from './operations/secrets/secrets.ts';
  const { request, run, key, kept, log, confinement, secrets: values } = JSON.parse(process.argv[2]);
  const append = async (chunks) => { for (const chunk of chunks) appendFileSync(log, JSON.stringify(chunk) + '\\n'); };
  const keeping = { processes: new KeptProcesses(kept, await workerMarker()), ends: () => true };
  const secrets = await secretsOf({ secrets: { find: async () => new Map() } }, values);
  const result = await runShell(request, {
    run, key, secrets, confinement, attempt: 1, signal: new AbortController().signal, keeping,
    store: { logs: { append, begun: async () => [] } }, heartbeat() {}, now: () => Date.now(),
  });
  process.stdout.write(JSON.stringify(result));
`;

export interface Step {
  project: string;
  kept: string;
  handle: string;
  request: ShellRequest;
  /** The worker of the first attempt. */
  worker: PromiseLike<unknown>;
  kill(): Promise<void>;
  /** The step as the worker of the next attempt performs it. */
  next(over?: {
    attempt?: number;
    signal?: AbortSignal;
    request?: Partial<ShellRequest>;
    /** Of the attempt before, where that was no first one. */
    log?: MemoryLog;
  }): Promise<Next>;
}

interface Next {
  context: TestContext;
  processes: KeptProcesses;
  result: ReturnType<typeof runShell>;
}

interface Place {
  confinement?: Confinement;
  /** One that holds the home, too. */
  project?: string;
  kept?: string;
  secrets?: Record<string, string>;
  /** Where its worker dies. */
  diesAt?: CrashPoint;
}

export async function begun(
  command: string,
  asked: Partial<ShellRequest> = {},
  { confinement = {}, project: chosen, kept: place, secrets, diesAt }: Place = {},
): Promise<Step> {
  const project = chosen ?? (await temporaryFolder());
  const home = chosen === undefined ? await temporaryFolder() : join(chosen, '.sentinel');
  const kept = place ?? join(home, 'processes');
  steps += 1;
  const handle = `kept-${process.pid}-${steps}`;
  const request = { command, timeoutMs: 60_000, isKept: true, ...asked };
  const run = { handle, project, persona: 'p', definitionHash: 'd' };
  const log = join(await temporaryFolder(), 'log');
  const given = JSON.stringify({ request, run, key: 'steps.0@1', kept, log, confinement, secrets });
  const deaths = diesAt === undefined ? [] : [{ point: diesAt, nth: 1, do: 'kill' }];
  const env = { [ARMED]: JSON.stringify({ record: `${log}-passed`, deaths }) };
  const worker = execa('node', [workerFile, given], { env, reject: false, cleanup: true });
  onTestFinished(async () => {
    worker.kill('SIGKILL');
    await execa('pkill', ['-KILL', '-f', project], { reject: false });
  });
  return {
    project,
    kept,
    handle,
    request,
    worker,
    async kill() {
      worker.kill('SIGKILL');
      await worker;
    },
    async next({ attempt = 2, signal, request: other, log: before } = {}) {
      const processes = new KeptProcesses(kept, await workerMarker());
      const logged = before ?? new MemoryLog();
      const text = before === undefined ? await readFile(log, 'utf8').catch(() => '') : '';
      for (const line of text.split('\n').filter(Boolean)) await logged.append([JSON.parse(line) as LogChunk]);
      const context = shellContext(project, {
        run,
        attempt,
        confinement,
        secrets: await secretsOf({ secrets: { find: () => Promise.resolve(new Map()) } }, secrets),
        keeping: { processes, ends: () => true },
        ...defined({ signal }),
        store: { logs: logged },
      });
      context.log = logged;
      return { context, processes, result: runShell({ ...request, ...other }, context) };
    },
  };
}

export async function appears(path: string): Promise<string> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (existsSync(path)) {
      const text = await readFile(path, 'utf8');
      if (text.endsWith('\n')) return text;
    }
    await sleep(25);
  }
  throw new Error(`${path} did not appear`);
}

export const folderOf = ({ kept, handle }: Step): KeptFolder => {
  const folder = KeptFolder.find(kept, keptIdOf(handle, 'steps.0@1'));
  if (folder === null) throw new Error('nothing is kept');
  return folder;
};

export const ofAttempt = ({ log }: TestContext, attempt: number, stream: string): string =>
  log
    .of(stream)
    .filter((chunk) => chunk.attempt === attempt)
    .map(({ text }) => text)
    .join('');

export const lines = (word: string): string => Array.from({ length: 10 }, (_, i) => `${word} ${i + 1}\n`).join('');

export const counted =
  'for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >> effects; echo line $i; echo odd $i >&2; sleep 0.1; done';
