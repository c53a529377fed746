/**
 * What the worker was told by the environment of whoever started the services. A verb that merely needs
 * them comes from a shell that may know nothing of it (a webhook's secret), and takes nothing away: the
 * settings stay until `sentinel up` is given others, or the services are stopped. The file is only for
 * its owner to read.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Environment } from '../config/config.ts';
import { WORKER_SETTINGS } from '../config/worker-settings.ts';
import { readHomeState, writeHomeState } from '../home/home-state.ts';

const NAMES = Object.keys(WORKER_SETTINGS);
const Kept = z.record(z.string(), z.string());

const SETTINGS_FILE = 'worker-settings.json';

export function keepSettings(home: string, env: Environment): void {
  writeHomeState(home, SETTINGS_FILE, settingsIn(env));
}

export function dropSettings(home: string): void {
  rmSync(join(home, SETTINGS_FILE), { force: true });
}

/** The environment as a worker gets it: with the settings that are kept, where there are any, and none of its own. */
export function withKeptSettings(home: string, env: Environment): Environment {
  const kept = keptIn(home);
  if (kept === null) return env;
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !NAMES.includes(name))), ...kept };
}

/** In a few words, which of the settings that are kept this environment changes; undefined for none. */
export function changedSettings(home: string, env: Environment): string | undefined {
  const [kept, given] = [keptIn(home), settingsIn(env)];
  if (kept === null) return undefined;
  const words = NAMES.filter((name) => kept[name] !== given[name]).map(
    (name) =>
      `${name} ${kept[name] === undefined ? 'is now set' : given[name] === undefined ? 'is no longer set' : 'has changed'}`,
  );
  return words.length === 0 ? undefined : words.join(', ');
}

function settingsIn(env: Environment): Record<string, string> {
  return Object.fromEntries(
    NAMES.flatMap((name): [string, string][] => {
      const value = env[name]?.trim() ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
}

function keptIn(home: string): Record<string, string> | null {
  try {
    return Kept.parse(readHomeState(home, SETTINGS_FILE));
  } catch {
    // None were kept, or nobody can read them any more: then those of the environment hold.
    return null;
  }
}
