/** Services of a home of their own, as `sentinel up` of a built checkout starts them, and their worker. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { SentinelClient } from '../../client/client.ts';
import { readServicesState, type ProcessRecord } from '../../services/config/services-state.ts';
import { choosePort } from '../../services/processes/ports.ts';

const execute = promisify(execFile);
const UP_MAX_MS = 180_000;
/** Half of a tick of the kernel's clock is lost for each. */
const TICK_MS = 10;

export interface StandingServices {
  client: SentinelClient;
  databaseUrl: string;
  project: string;
  worker(): ProcessRecord;
  /** What the worker has used so far, its own threads alone. */
  workerCpuMs(): number;
  end(): Promise<void>;
}

export async function standUp(root: string, modelUrl: string): Promise<StandingServices> {
  const home = mkdtempSync(join(tmpdir(), 'sentinel-bench-home-'));
  // Postgres may run as another user, who has to reach its data in here.
  chmodSync(home, 0o755);
  const project = join(home, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'notes.txt'), 'a small file to read\n');
  const temporal = await choosePort([]);
  const { TEMPORAL_ADDRESS: _address, DATABASE_URL: _url, SENTINEL_PROJECT: _project, ...rest } = process.env;
  const env = {
    ...rest,
    SENTINEL_HOME: home,
    SENTINEL_TEMPORAL_PORT: String(temporal),
    SENTINEL_TEMPORAL_UI_PORT: String(await choosePort([], new Set([temporal]))),
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${modelUrl}/v1`,
  };
  const verb = async (name: string): Promise<void> => {
    await execute(process.execPath, [join(root, 'dist', 'cli', 'main.js'), name], {
      cwd: home,
      env,
      timeout: UP_MAX_MS,
    });
  };
  const end = async (): Promise<void> => {
    await verb('down');
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await verb('up');
    const client = await clientOf(root, env);
    const worker = (): ProcessRecord => {
      const found = readServicesState(home)?.worker?.process;
      if (!found) throw new Error('the services of the benchmark have no worker');
      return found;
    };
    return {
      client,
      databaseUrl: readServicesState(home)?.postgres?.url ?? '',
      project,
      worker,
      workerCpuMs: () => cpuMsOf(worker().pid),
      async end() {
        await client.close();
        await end();
      },
    };
  } catch (error) {
    await end().catch(() => undefined);
    throw error;
  }
}

/** Of that checkout: its store may be another. */
async function clientOf(root: string, env: NodeJS.ProcessEnv): Promise<SentinelClient> {
  const file = join(root, 'dist', 'client', 'package', 'client.js');
  if (!existsSync(file)) throw new Error(`${root} is not built; run \`npm run build\` there`);
  const { SentinelClient: Client } = (await import(pathToFileURL(file).href)) as {
    SentinelClient: typeof SentinelClient;
  };
  return new Client({ env, startsServices: false });
}

function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** Kills the worker; resolves once another one is up, with its time from the kill and its processor time by then. */
export async function killWorker(services: StandingServices): Promise<{ upMs: number; cpuMs: number }> {
  const { pid } = services.worker();
  const killedAt = performance.now();
  process.kill(pid, 'SIGKILL');
  for (;;) {
    await sleep(10);
    const { pid: next, status } = services.worker();
    if (next !== pid && status === 'up') return { upMs: performance.now() - killedAt, cpuMs: services.workerCpuMs() };
  }
}
