/** An installation of Sentinel with a home, services and a project of its own, used as a person uses one. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { SentinelClient } from '../../client/client.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import { ownRoot } from '../../services/home/package-root.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import { builtInCatalogue } from '../../systems/catalogue.ts';

const CLI = join(ownRoot, 'dist', 'cli', 'main.js');
const commandMs = 10 * 60_000;
const againMs = 500;
/** The supervisor brings back in seconds what has died. */
const awayMaxMs = 3 * 60_000;

export const TARGETS = ['trainer', 'worker', 'temporal', 'postgres'] as const;
export type Target = (typeof TARGETS)[number];

export class Installation {
  readonly home: string;
  readonly project: string;
  readonly persona: string;
  readonly #env: Record<string, string>;
  readonly #client: SentinelClient;

  constructor(folder: string, persona: string) {
    this.home = join(folder, 'home');
    this.project = join(folder, 'project');
    this.persona = persona;
    mkdirSync(this.project, { recursive: true });
    this.#env = { SENTINEL_HOME: this.home, XDG_STATE_HOME: join(folder, 'state'), USER: persona };
    this.#client = new SentinelClient({ env: { ...process.env, ...this.#env } });
  }

  write(name: string, rows: readonly JsonObject[]): void {
    writeFileSync(join(this.project, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }

  /** What a verb says with `--json`; fails with what it says on stderr. */
  async say(...args: string[]): Promise<Json> {
    const { exitCode, stdout, stderr } = await execa(process.execPath, [CLI, ...args, '--json'], {
      cwd: this.project,
      env: this.#env,
      reject: false,
      timeout: commandMs,
    });
    if (exitCode !== 0) throw new Error(`sentinel ${args.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as Json;
  }

  async start(handle: string, steps: readonly JsonObject[]): Promise<void> {
    const read = parseDefinition({ name: handle, steps, loop: { type: 'once' } }, { catalogue: builtInCatalogue() });
    if (!read.ok) throw new Error(`bug: ${JSON.stringify(read.problems)}`);
    await this.#client.start(read.definition, { handle, project: this.project, persona: this.persona });
  }

  /** Of a run that completed; whatever dies meanwhile. */
  async outputs(handle: string): Promise<JsonObject> {
    for (let goneSince = Date.now(); ;) {
      try {
        const { outcome, outputs, failure } = await this.#client.result(handle);
        if (outcome === 'completed') return outputs;
        throw new Failed(`${handle} ended as ${outcome}: ${JSON.stringify(failure)}`);
      } catch (error) {
        if (error instanceof Failed || Date.now() - goneSince > awayMaxMs) throw error;
        if (await this.#isThere()) goneSince = Date.now();
        await sleep(againMs);
      }
    }
  }

  #isThere(): Promise<boolean> {
    return this.#client.list({ limit: 1 }).then(
      () => true,
      () => false,
    );
  }

  async run(handle: string, steps: readonly JsonObject[]): Promise<JsonObject> {
    await this.start(handle, steps);
    return this.outputs(handle);
  }

  /** What a model answers to one question, in a run of its own. */
  async ask(handle: string, model: string, prompt: string): Promise<string> {
    const { answer } = await this.run(handle, [{ type: 'llm', model, prompt, maxTokens: 14, outputTo: 'answer' }]);
    return typeof answer === 'string' ? answer : JSON.stringify(answer);
  }

  /** With -9; null where it is not there now. */
  kill(target: Target): number | null {
    const pid = target === 'trainer' ? trainerIn(this.home) : this.#service(target);
    if (pid === null) return null;
    try {
      process.kill(pid, 'SIGKILL');
      return pid;
    } catch {
      return null;
    }
  }

  #service(target: Exclude<Target, 'trainer'>): number | null {
    const found = readServicesState(this.home)?.[target]?.process;
    return found?.status === 'up' ? found.pid : null;
  }

  /** The newest checkpoint of the training that has one; null before. */
  checkpoint(): number | null {
    const trainings = join(this.home, 'genome', 'trainings');
    const steps = namesIn(trainings).flatMap((name) =>
      namesIn(join(trainings, name, 'checkpoints')).flatMap((one) => /^step-(\d+)$/.exec(one)?.[1] ?? []),
    );
    return steps.length === 0 ? null : Math.max(...steps.map(Number));
  }

  async close(): Promise<void> {
    await this.#client.close();
    await execa(process.execPath, [CLI, 'down'], { cwd: this.project, env: this.#env, reject: false });
  }
}

class Failed extends Error {}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Linux: the Python process that trains in this home. */
function trainerIn(home: string): number | null {
  const found = namesIn('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    const [program = '', ...args] = textOf(`/proc/${name}/cmdline`).split('\0');
    const isTrainer = program.includes('python') && args.includes('sentinel_trainer') && args.includes('train');
    return isTrainer && args.some((one) => one.startsWith(home));
  });
  return found[0] === undefined ? null : Number(found[0]);
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
