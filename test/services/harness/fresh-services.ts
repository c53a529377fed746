/** Services of a home and ports of their own, and the command line on them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { inject } from 'vitest';
import type { ServicesOptions } from '../../../services/ensure-services.ts';
import { choosePort } from '../../../services/processes/ports.ts';

const CLI = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli', 'main.js');

export interface FreshServices {
  home: string;
  options: ServicesOptions & { env: NodeJS.ProcessEnv };
}

/**
 * `options` are for servers without a worker. `withoutDoor`: as on a machine that gives no process a network of its
 * own, with Temporal on the loopback address.
 */
export async function freshServices({ withoutDoor = false } = {}): Promise<FreshServices> {
  const home = mkdtempSync(join(tmpdir(), 'sentinel-services-'));
  // Reachable for the user Postgres runs as where the tests run as root.
  chmodSync(home, 0o755);
  const temporal = await choosePort([]);
  const ui = await choosePort([], new Set([temporal]));
  const { TEMPORAL_ADDRESS: _address, DATABASE_URL: _url, ...rest } = process.env;
  const env = {
    ...rest,
    SENTINEL_HOME: home,
    SENTINEL_TEMPORAL_PORT: String(temporal),
    SENTINEL_TEMPORAL_UI_PORT: String(ui),
    ...(withoutDoor ? { PATH: pathWithoutDoor(home) } : {}),
  };
  return { home, options: { withWorker: false, supervisorProgram: inject('supervisorProgram'), env } };
}

function pathWithoutDoor(home: string): string {
  const folder = `${home}-programs`;
  mkdirSync(folder);
  writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\necho "no namespaces here" >&2\nexit 1\n', { mode: 0o755 });
  return `${folder}${delimiter}${process.env['PATH'] ?? ''}`;
}

export interface Said {
  code: number | null;
  out: string;
  err: string;
}

export interface Started {
  child: ChildProcess;
  said: Promise<Said>;
  /** What it has said so far on both streams. */
  text: () => string;
}

/** The command line as it is built; what ends by itself ends within two minutes, or is killed. */
export function startSentinel(env: NodeJS.ProcessEnv, args: readonly string[]): Started {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: env['SENTINEL_HOME'],
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const said = once(child, 'close').then(([code]: (number | null)[]) => ({ code: code ?? null, out, err }));
  return { child, said, text: () => `${out}${err}` };
}

export const sentinel = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Said> => startSentinel(env, args).said;
