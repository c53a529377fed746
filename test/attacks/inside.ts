/** Steps of a run in one of the modes, as an attacker writes them, and the projects they run in. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtInRegistry } from '../../systems/built-in.ts';
import { findSandbox } from '../../world/confinement/sandbox.ts';
import type { ShellRequest } from '../../operations/shell/request.ts';
import { runShell, type ShellResult } from '../../operations/shell/run-shell.ts';
import type { Json } from '../../language/json.ts';
import type { Confinement } from '../../language/permissions.ts';
import { commandContext } from '../activities/harness/command-context.ts';
import { shellContext } from '../activities/harness/step-context.ts';

/** What only a real sandbox shows is skipped by name where there is none. */
export const hasSandbox = (await findSandbox()).ok;

const registry = builtInRegistry();
const confinements: Record<'full' | 'sandboxed' | 'boundedSandbox' | 'readonly', Confinement | undefined> = {
  full: undefined,
  sandboxed: { mode: 'sandboxed' },
  boundedSandbox: { mode: 'sandboxed', memoryMb: 512 },
  readonly: { mode: 'readonly' },
};

export type AttackedMode = keyof typeof confinements;

const confinementOf = (mode: AttackedMode): { confinement?: Confinement } => {
  const confinement = confinements[mode];
  return confinement === undefined ? {} : { confinement };
};

export function shell(
  project: string,
  request: Partial<ShellRequest>,
  mode: AttackedMode = 'sandboxed',
): Promise<ShellResult> {
  return runShell({ command: 'true', timeoutMs: 30_000, ...request }, shellContext(project, confinementOf(mode)));
}

export function command(project: string, name: string, params: Json, mode: AttackedMode): Promise<Json> {
  return registry.run(name, params, commandContext(project, confinementOf(mode)));
}

/** A folder in the home of whoever runs the tests, as their keys are. */
export async function homeFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(homedir(), '.sentinel-hidden-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'key'), 's3cret');
  return folder;
}
