/**
 * The package in projects of others: what the tarball holds, the command line, types and modules, where services and
 * their data are, and the versions of Node it says it runs on.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readServicesState } from '../../services/config/services-state.ts';
import { isAlive } from '../../services/processes/process-identity.ts';
import {
  hasRegistry,
  install,
  installLike,
  nodePaths,
  openFolder,
  pack,
  packNext,
  runIn,
  succeed,
  userShell,
  type Done,
  type Shell,
} from './harness/installed-package.ts';
import { callsTo, MODEL, ModelDouble, says } from '../server/harness/models/model-double.ts';
import { NOTES } from '../server/systems/notes-project.ts';
import { MISUSES, writeProject } from './harness/package-project.ts';

const registry = await hasRegistry();
const why = registry ? '' : ' (skipped: npm reaches no registry)';
const SUPPORTED = ['20.19.0', '22', '24', '26'];
const hasNodes = registry && process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

let work: string;
let tarball: string;
let files: string[];
let project: string;
let shell: Shell;

beforeAll(async () => {
  if (!registry) return;
  work = realpathSync(openFolder());
  ({ tarball, files } = await pack(work));
  project = join(work, 'project');
  mkdirSync(project);
  writeProject(project);
  shell = await userShell();
  await install(project, tarball, 'typescript@5.9', '@types/node@20');
  await succeed(project, shell, 'npx', 'sentinel', 'trust', '--yes');
}, 300_000);
afterAll(async () => {
  if (!registry) return;
  await npx(project, shell, 'down');
  rmSync(work, { recursive: true, force: true });
}, 120_000);

const npx = (cwd: string, inShell: Shell, ...args: string[]): Promise<Done> =>
  runIn(cwd, inShell, 'npx', 'sentinel-engine', ...args);

/** The example of a page of docs: JavaScript as it stands. */
const scriptOf = (page: string): string => scriptsOf(page)[0] ?? '';

function scriptsOf(page: string): string[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8');
  return Array.from(text.matchAll(/```ts\n([^]*?)```/g), ([, script = '']) => script);
}

const add = (text: string): object => ({ type: 'command', command: 'notes/add', params: { text } });

/** What a command of the system lists. */
async function textsOf(own: string, inShell: Shell, command: 'list' | 'followed'): Promise<string[]> {
  const said = await succeed(own, inShell, 'npx', 'sentinel', 'command', `notes/${command}`, '--json');
  const { result } = JSON.parse(said) as { result: (string | { text: string })[] };
  return result.map((note) => (typeof note === 'string' ? note : note.text));
}

/** The last line of `--json`: the report of a run. */
const reportOf = ({ out }: Done): unknown => JSON.parse(out.trim().split('\n').at(-1) ?? '');

describe.skipIf(!registry)(`the package, installed${why}`, () => {
  test('holds what is run, and neither sources nor tests', () => {
    const allowed =
      /^(sentinel|package\.json|README\.md|LICENSE|CHANGELOG\.md|(dist|docs|examples|prisma|sentinels)\/.+|trainer\/.+)$/;
    expect(files.filter((path) => !allowed.test(path))).toEqual([]);
    expect(
      files.filter((path) => /\.map$|^dist\/(test|bench|\.)|^trainer\/(tests|experiments)|(?<!\.d)\.ts$/.test(path)),
    ).toEqual(['examples/steer-a-run.ts', 'sentinels/init/sentinel.config.ts']);
    for (const needed of [
      'LICENSE',
      'dist/cli/main.js',
      'dist/workflow-bundle.js',
      'dist/build-id',
      'sentinels/sentinel.schema.json',
      'trainer/sentinel_trainer/cli.py',
      'trainer/locks/pypi.txt',
    ])
      expect(files).toContain(needed);
  });

  test('says its version, and reads and tests definitions, without services', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await npx(project, shell, '--version')).toEqual({ code: 0, out: version, err: '' });
    expect(await npx(project, shell, 'validate', 'sentinels/native.json')).toMatchObject({ code: 0 });
    expect(await npx(project, shell, 'validate', 'sentinels/wrong.json')).toMatchObject({
      code: 2,
      out: expect.stringContaining('worker/node') as string,
    });
    expect(await npx(project, shell, 'test')).toMatchObject({ code: 0 });
    expect(await npx(project, shell, 'models', 'add', 'hay.txt', '--name', 'small')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/npm install node-llama-cpp[^\n]*\n*$/) as string,
    });
    expect(readServicesState(join(project, '.sentinel'))).toBeNull();
  });

  test('runs a definition with a command of the project, and keeps services in the project', async () => {
    const ran = await npx(project, shell, 'run', 'native', '--json');
    expect(ran.code, ran.err).toBe(0);
    expect(reportOf(ran)).toMatchObject({
      outcome: 'completed',
      outputs: { worker: process.versions.node, line: 2, shell: expect.stringContaining(process.version) as string },
    });
    expect(readServicesState(join(project, '.sentinel'))).toMatchObject({ phase: 'ready' });
    expect(await npx(project, shell, 'list', '--json')).toMatchObject({
      code: 0,
      out: expect.stringContaining('native') as string,
    });
  });

  test('comes without the compilers, the tests and the engines of other databases', () => {
    const left = ['@prisma/client', 'prisma', 'esbuild', 'vitest', 'oxlint', 'playwright-core', 'node-llama-cpp'];
    expect(left.filter((name) => existsSync(join(project, 'node_modules', name)))).toEqual([]);
  });

  test('says which package a picture of a page needs', async () => {
    const steps = [{ type: 'command', command: 'screenshot', params: { url: 'https://example.org' } }];
    writeFileSync(join(project, 'sentinels/picture.json'), JSON.stringify({ name: 'picture', steps }));
    const ran = await npx(project, { ...shell, SENTINEL_CHROMIUM: process.execPath }, 'run', 'picture', '--json');
    expect(reportOf(ran)).toMatchObject({ failure: { code: 'BROWSER_MISSING' } });
  });

  test.each(['tsconfig.json', 'tsconfig.bundler.json'])('has types for a project with %s', async (config) => {
    const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
    expect(await runIn(project, shell, 'node', tsc, '-p', config)).toEqual({ code: 0, out: '', err: '' });
  });

  test('has types that refuse what is wrong or internal', async () => {
    const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
    const { out } = await runIn(project, shell, 'node', tsc, '-p', 'tsconfig.misuse.json');
    const lines = [...out.matchAll(/^misuse\.ts\((\d+),/gm)].map(([, line]) => Number(line));
    expect([...new Set(lines)], out).toEqual(MISUSES.map((_misuse, index) => index + 2));
  });

  test('is imported by a script, which starts runs and follows them', async () => {
    const shown = JSON.parse(await succeed(project, shell, 'node', join('built', 'script.js'))) as unknown;
    expect(shown).toEqual({
      outcomes: ['completed', 'completed'],
      outputs: expect.objectContaining({ said: expect.anything() as unknown }) as unknown,
      first: 'run-started',
      last: 'run-finished',
      code: 'RUN_NOT_FOUND',
      failure: 'NO_WORDS',
      internals: [],
    });
  });

  test('keeps two projects apart, and services where SENTINEL_HOME says', async () => {
    const before = readServicesState(join(project, '.sentinel'));
    const second = join(work, 'second');
    await installLike(project, second);
    const elsewhere = { ...(await userShell()), SENTINEL_HOME: join(work, 'elsewhere') };
    expect(await npx(second, shell, 'list')).toMatchObject({ code: 1, out: '' });
    expect(await npx(second, elsewhere, 'init')).toMatchObject({ code: 0 });
    expect(await npx(second, elsewhere, 'test')).toMatchObject({ code: 0 });
    const ran = await npx(second, elsewhere, 'run', 'gate', '--json');
    expect(ran.code, ran.err).toBe(0);
    const listed = JSON.parse((await npx(second, elsewhere, 'list', '--json')).out) as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(['gate']);
    writeFileSync(join(second, 'start.mjs'), scriptOf('install.md'));
    expect(await succeed(second, elsewhere, 'node', 'start.mjs')).toMatch(/^gate-\w+ completed /);
    expect(existsSync(join(second, '.sentinel'))).toBe(false);
    expect(await npx(second, elsewhere, 'down')).toMatchObject({ code: 0 });
    expect(readServicesState(join(project, '.sentinel'))).toEqual(before);
  });

  test('runs a system as the documentation writes it, as a file and as a package', async () => {
    const own = join(work, 'systems');
    await installLike(project, own);
    const [system = '', config = ''] = scriptsOf('systems.md');
    writeFileSync(join(own, 'package.json'), JSON.stringify({ name: 'own', private: true, type: 'module' }));
    writeFileSync(join(own, 'notes.ts'), system);
    writeFileSync(join(own, 'sentinel.config.ts'), config);
    const compilerOptions = { target: 'es2022', module: 'nodenext', strict: true, types: ['node'], noEmit: true };
    const options = { ...compilerOptions, allowImportingTsExtensions: true };
    writeFileSync(
      join(own, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['sentinel.config.ts'] }),
    );
    const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
    expect(await runIn(own, shell, 'node', tsc)).toEqual({ code: 0, out: '', err: '' });
    const elsewhere = { ...(await userShell()), SENTINEL_HOME: join(work, 'systems-home') };
    onTestFinished(async () => void (await npx(own, elsewhere, 'down')));
    await succeed(own, elsewhere, 'npx', 'sentinel', 'trust', '--yes');
    expect(await succeed(own, elsewhere, 'npx', 'sentinel', 'notes', 'add', 'Buy milk.')).toBe('Buy milk.');
    const steps = [
      { type: 'command', command: 'notes/add', params: { text: 'From a run.' } },
      { type: 'command', command: 'notes/list', outputTo: 'notes' },
    ];
    const definition = { name: 'noting', steps, outputs: { notes: '$notes' } };
    writeFileSync(join(own, 'noting.json'), JSON.stringify(definition));
    const ran = await npx(own, elsewhere, 'run', 'noting.json', '--json');
    expect(ran.code, ran.err).toBe(0);
    expect(JSON.parse(ran.out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      outputs: { notes: [{ text: 'Buy milk.' }, { text: 'From a run.' }] },
    });
    // The same as a package that somebody installs: Node itself loads it.
    const installed = join(own, 'node_modules', 'notes-for-sentinel');
    mkdirSync(installed);
    writeFileSync(
      join(installed, 'package.json'),
      JSON.stringify({ name: 'notes-for-sentinel', type: 'module', exports: './notes.js' }),
    );
    const compiled = [
      '--outDir',
      installed,
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--skipLibCheck',
      '--types',
      'node',
    ];
    await succeed(own, shell, 'node', tsc, ...compiled, 'notes.ts');
    rmSync(join(own, 'notes.ts'));
    writeFileSync(join(own, 'sentinel.config.ts'), config.replace('./notes.ts', 'notes-for-sentinel'));
    await succeed(own, elsewhere, 'npx', 'sentinel', 'trust', '--yes');
    await succeed(own, elsewhere, 'npx', 'sentinel', 'up');
    const again = await npx(own, elsewhere, 'run', 'noting.json', '--json');
    expect(again.out).toContain('NOTE_THERE');
    expect(JSON.parse(await succeed(own, elsewhere, 'npx', 'sentinel', 'notes', 'list', '--json'))).toMatchObject({
      command: 'notes/list',
      result: { length: 2 },
    });
  });

  test('brings a system that works through every door, and survives kill -9 with each row once', async () => {
    const own = join(work, 'doors');
    await installLike(project, own);
    writeFileSync(join(own, 'notes.ts'), NOTES);
    const systems = "import { notes } from './notes.ts'; export default { systems: [notes] };";
    writeFileSync(join(own, 'sentinel.config.ts'), systems);
    const model = await new ModelDouble().open();
    const home = join(work, 'doors-home');
    const there: Shell = { ...(await userShell()), ...model.env, SENTINEL_HOME: home };
    onTestFinished(async () => {
      await npx(own, there, 'down');
      await model.close();
    });
    await succeed(own, there, 'npx', 'sentinel', 'trust', '--yes');
    const written = (): Promise<string[]> => textsOf(own, there, 'list');
    const run = async (name: string, rest: object, ...args: string[]): Promise<Done> => {
      writeFileSync(join(own, `${name}.json`), JSON.stringify({ name, ...rest }));
      return npx(own, there, args[0] ?? 'run', `${name}.json`, '--json', ...args.slice(1));
    };
    expect(await succeed(own, there, 'npx', 'sentinel', 'notes', 'add', 'a verb')).toBe('a verb');
    model.next(callsTo('1', 'notes_add', { text: 'a model' }), says('Noted.'));
    const asks = { type: 'llm', prompt: 'Note it.', model: MODEL, tools: ['notes/add'] };
    const again = { ...add('a segment'), onError: 'skip', outputTo: 'again' };
    const report = { type: 'sentinel', definition: { $ref: 'notes-report' }, outputTo: 'report' };
    const segments = await run('segments', {
      steps: [add('a segment'), again, asks, report],
      outputs: { report: '$report' },
    });
    expect(segments.code, segments.err).toBe(0);
    expect(segments.out).toContain('NOTE_THERE');
    expect(await run('steps', { durability: 'step', steps: [add('a step')] })).toMatchObject({ code: 0 });
    expect(await run('simulated', { steps: [add('nobody')] }, 'simulate')).toMatchObject({ code: 0 });
    const agent = new Client({ name: 'an editor', version: '1' });
    const args = ['sentinel-engine', 'mcp', 'serve'];
    await agent.connect(new StdioClientTransport({ command: 'npx', args, cwd: own, env: there }));
    await agent.callTool({ name: 'notes_add', arguments: { text: 'an agent' } });
    await agent.close();
    expect(await written()).toEqual(['a verb', 'a segment', 'a model', 'a step', 'an agent']);
    const passes = 40;
    const rests = { type: 'shell', command: 'sleep 0.2' };
    const loop = { type: 'count', max: passes };
    const counted = add('pass {{input.iteration}}');
    const begun = await run('killed', { loop, steps: [counted, rests] }, 'run', '--detach', '--id', 'killed');
    expect(begun.code, begun.err).toBe(0);
    await expect.poll(async () => (await written()).length, { timeout: 60_000 }).toBeGreaterThan(8);
    const workerOf = (): number | undefined => readServicesState(home)?.workers[0]?.process?.pid;
    const killed = workerOf();
    if (killed === undefined) throw new Error('bug: the project has no worker');
    process.kill(killed, 'SIGKILL');
    const followed = await npx(own, there, 'follow', 'killed', '--json');
    expect(reportOf(followed)).toMatchObject({ outcome: 'completed' });
    expect(workerOf()).not.toBe(killed);
    const expected = Array.from({ length: passes }, (_, index) => `pass ${index + 1}`);
    expect((await written()).slice(5)).toEqual(expected);
    // The verb was said before a worker had the system.
    const followers = async (): Promise<string[]> => (await textsOf(own, there, 'followed')).slice(-passes);
    await expect.poll(followers, { timeout: 60_000 }).toEqual(expected);
  });

  test('goes on with a run under the next version', async () => {
    const begun = await npx(project, shell, 'run', 'waiting', '--detach', '--id', 'waiting');
    expect(begun.code, begun.err).toBe(0);
    const next = await packNext(tarball, join(work, 'next'), '0.2.0');
    await npx(project, shell, 'down');
    await install(project, next);
    expect(await npx(project, shell, '--version')).toMatchObject({ out: '0.2.0' });
    expect(await npx(project, shell, 'up')).toMatchObject({ code: 0 });
    const followed = await npx(project, shell, 'follow', 'waiting', '--json');
    expect(reportOf(followed)).toMatchObject({ outcome: 'completed', outputs: { worker: process.versions.node } });
    expect(await npx(project, shell, 'replay', 'waiting')).toMatchObject({ code: 0 });
    // Installed under services that are up, the version before is noticed by the next verb that acts.
    await install(project, tarball);
    const ran = await npx(project, shell, 'run', 'greeting');
    expect(ran.code, ran.err).toBe(0);
    expect(ran.err).toContain('the build has changed; restarting the services');
  });

  test('ends its services', async () => {
    const { worker, temporal, postgres } = readServicesState(join(project, '.sentinel')) ?? {};
    const processes = [worker, temporal, postgres].flatMap((service) => service?.process ?? []);
    expect(processes).toHaveLength(3);
    expect(await npx(project, shell, 'down')).toMatchObject({ code: 0 });
    expect(processes.map(isAlive)).toEqual([false, false, false]);
  });
});

const whyNoNodes = hasNodes ? '' : ' (skipped: they come for Linux, from a registry)';

describe.skipIf(!hasNodes)(`the package on other versions of Node${whyNoNodes}`, () => {
  let paths: Map<string, string>;
  let plain: string;

  beforeAll(async () => {
    paths = await nodePaths(join(work, 'nodes'), SUPPORTED);
    plain = join(work, 'plain');
    mkdirSync(plain);
    writeFileSync(join(plain, 'package.json'), '{ "name": "plain", "private": true }\n');
  }, 300_000);

  test.each(SUPPORTED)('runs on %s', async (version) => {
    const home = join(work, `home-${version}`);
    const on = { ...(await userShell()), PATH: paths.get(version) ?? '', SENTINEL_HOME: home };
    const program = join(project, 'node_modules', '.bin', 'sentinel');
    try {
      const ran = await runIn(project, on, program, 'run', 'native', '--json');
      expect(ran.code, ran.err).toBe(0);
      const node = (await succeed(project, on, 'node', '--version')).slice(1);
      expect(`${node}.`.startsWith(`${version}.`)).toBe(true);
      expect(reportOf(ran)).toMatchObject({ outputs: { worker: node, line: 2, shell: `v${node}\n` } });
      // The first command of the README.
      const verified = await runIn(project, on, program, 'run', 'verify-project', '--project', plain);
      expect(verified.code, `${verified.out}\n${verified.err}`).toBe(0);
    } finally {
      await succeed(project, on, program, 'down');
    }
  });
});
