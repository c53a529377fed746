/**
 * What a file of the project says is not done with the rights of the definition: a recipe may come from a model, and
 * a program of the project's choice runs only after whoever is to be asked was asked.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { builtInCatalogue } from '../../../systems/catalogue.ts';
import { confinementOf } from '../../../interpreter/build-effect.ts';
import type { Walk } from '../../../interpreter/walk-state.ts';
import type { JsonObject } from '../../../language/json.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const opened = useStore();
const registry = builtInRegistry();

async function projectWith(files: { [path: string]: string }): Promise<string> {
  const project = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text, { mode: 0o755 });
  }
  return project;
}

let steps = 0;
async function run(
  name: string,
  params: JsonObject,
  project: string,
  over: Partial<CommandContext> = {},
): Promise<JsonObject> {
  steps += 1;
  const session = opened.store.session();
  const context = commandContext(project, { store: opened.store, session, key: `steps.${steps}@1`, ...over });
  try {
    return (await registry.run(name, params, context)) as JsonObject;
  } finally {
    await session.close();
  }
}

const SECRETS = {
  '.git/config': '[remote] url = https://token@host',
  '.env': 'KEY=of-the-user',
  'README.md': 'what it is for',
};
const sources = [
  'README.md',
  '.git/config',
  '.env',
  'sentinel/list',
  'sentinel/status {"handle":"other"}',
  'health-check',
  'code/read {"path":".git/config"}',
  'code/search {"pattern":"what it"}',
];

test('a recipe in a file reads what a model may read, and no other runs', async () => {
  const project = await projectWith({ ...SECRETS, 'recipes/coding.json': JSON.stringify({ sources }) });
  const { text, leftOut } = await run('rag/build', { recipe: 'coding' }, project);
  expect(text).toContain('what it is for');
  for (const secret of ['token@host', 'of-the-user', '"handle"']) expect(text).not.toContain(secret);
  const reasons = Object.fromEntries((leftOut as { name: string; why: string }[]).map(({ name, why }) => [name, why]));
  expect(reasons).toMatchObject({
    'sentinel/list': expect.stringContaining('"ragSources"') as string,
    'health-check': expect.stringContaining('"ragSources"') as string,
    'code/read {"path":".git/config"}': expect.stringContaining('git repository') as string,
  });
});

test('sources of the definition, and the recipe that needs no file, read as they did', async () => {
  const project = await projectWith(SECRETS);
  const { text } = await run('rag/build', { sources: ['.git/config', 'health-check'] }, project);
  expect(text).toContain('token@host');
  const built = await run('rag/build', { recipe: 'coding' }, project);
  expect(built['text']).toContain('what it is for');
});

const SERVER = "#!/usr/bin/env node\nrequire('node:fs').writeFileSync('ran', '');";

test.each([
  [{}, true],
  [{ asksForPrograms: true as const }, false],
])('a language server of the project under %j runs: %s', async (confinement, isRun) => {
  const project = await projectWith({ 'a.py': 'x = 1', 'node_modules/.bin/pyright-langserver': SERVER });
  await run('code/diagnostics', { timeoutMs: 5_000 }, project, { confinement }).catch(() => null);
  expect(existsSync(join(project, 'ran'))).toBe(isRun);
});

const mark = (name: string): string => `#!/bin/sh\ntouch ran-${name}\n`;

test.each([
  [{}, ['monitor', 'signature']],
  [{ asksForPrograms: true as const }, []],
])('a look at the repository under %j starts of its programs %j', async (confinement, started) => {
  const project = await projectWith({ 'a.txt': 'one', monitor: mark('monitor'), signature: mark('signature') });
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: project, encoding: 'utf8' });
  git('init', '--quiet');
  git('add', 'a.txt');
  // As a commit looks that somebody signed: the signature is what the program is to judge.
  const tree = git('write-tree').trim();
  const who = 'A <a@b.example> 1700000000 +0000';
  const signed = `tree ${tree}\nauthor ${who}\ncommitter ${who}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\nfirst\n`;
  const hash = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], { cwd: project, input: signed });
  git('update-ref', 'HEAD', hash.toString().trim());
  git('config', 'core.fsmonitor', './monitor');
  git('config', 'log.showSignature', 'true');
  git('config', 'gpg.program', './signature');
  expect(await run('code/git', { operation: 'status' }, project, { confinement })).toMatchObject({ clean: false });
  expect(await run('code/git', { operation: 'log' }, project, { confinement })).toMatchObject({
    commits: [expect.objectContaining({ subject: 'first' })],
  });
  expect(['monitor', 'signature'].filter((name) => existsSync(join(project, `ran-${name}`)))).toEqual(started);
});

const walk = (requireApproval: string[]): Walk =>
  ({ input: { catalogue: builtInCatalogue(), limits: { requireApproval } } }) as unknown as Walk;

test('a run whose shell lines need an approval says so to its commands', () => {
  const step = { type: 'command', command: 'code/diagnostics', params: {} } as const;
  const strand = { own: {}, outer: [] };
  expect(confinementOf(walk(['shell', 'write']), strand, step)).toEqual({ confinement: { asksForPrograms: true } });
  expect(confinementOf(walk(['write']), strand, step)).toEqual({});
});
