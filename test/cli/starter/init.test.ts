/** `sentinel init`: what it writes is accepted as it is, what is there is kept, and what is in the way is said before anything is written. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { root } from '../../project/tree.ts';
import { buildCli, type BuiltCli, type Finished } from '../processes/built-cli.ts';

let cli: BuiltCli;
let parent: string;
let project: string;
beforeAll(async () => {
  cli = await buildCli();
  parent = mkdtempSync(join(tmpdir(), 'sentinel-init-'));
});
afterAll(() => {
  cli.remove();
  rmSync(parent, { recursive: true, force: true });
});
beforeEach(() => {
  project = mkdtempSync(join(parent, 'project-'));
});

const init = (...args: string[]): Promise<Finished> => cli.run(['init', ...args], { cwd: project });
const write = (file: string, text: string): void => writeFileSync(join(project, file), text);
const read = (file: string): string => readFileSync(join(project, file), 'utf8');
const everything = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'utf8')]),
  );

const FILES = [
  'sentinels/gate.json',
  'sentinels/gate.sentinel-test.json',
  'sentinel.config.ts',
  '.github/workflows/sentinel.yml',
  '.gitignore',
];

describe('in an empty folder', () => {
  test('all is written, and validate and test have nothing to say against it', async () => {
    const { code, stdout, stderr } = await init();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(Object.keys(everything()).toSorted()).toEqual(FILES.map((file) => join(project, file)).toSorted());
    for (const command of [
      'install --save-dev sentinel-engine',
      'validate sentinels',
      'test sentinels',
      'run sentinels/gate.json',
    ])
      expect(stdout).toContain(command);
    expect(stdout).toContain('There is no package.json here');
    const validated = await cli.run(['validate', 'sentinels', '--json'], { cwd: project });
    expect({ code: validated.code, document: JSON.parse(validated.stdout) as unknown }).toEqual({
      code: 0,
      document: { ok: true, problems: [], inferred: [] },
    });
    const tested = await cli.run(['test', 'sentinels'], { cwd: project });
    expect(tested).toMatchObject({ code: 0 });
    expect(tested.stdout).toContain('3 passed, 0 failed');
  });

  test('its configuration gives the project a command', async () => {
    await init();
    write('package.json', '{"name": "mine", "version": "1.2.3"}');
    write(
      'sentinels/version.json',
      '{"name": "version", "steps": [{"type": "command", "command": "project/version"}]}',
    );
    expect(await cli.run(['validate', 'sentinels/version.json'], { cwd: project })).toMatchObject({ code: 0 });
  });

  test('a second time nothing changes', async () => {
    await init();
    const before = everything();
    const { code, stdout } = await init('--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      folder: project,
      files: FILES.map((file) => ({
        file,
        done: 'kept',
        because: file === '.gitignore' ? 'it names .sentinel/ and node_modules/ already' : 'it is there already',
      })),
      next: expect.arrayContaining(['npx sentinel-engine run sentinels/gate.json']) as unknown,
    });
    expect(everything()).toEqual(before);
  });

  test('a folder that is not there is made, and the commands begin with going there', async () => {
    const { code, stdout } = await init('apps/my own');
    expect(code).toBe(0);
    expect(existsSync(join(project, 'apps/my own/sentinels/gate.json'))).toBe(true);
    expect(stdout).toContain("\n  cd 'apps/my own'\n");
  });
});

describe('in a project', () => {
  test('what is there is kept, whatever it holds', async () => {
    mkdirSync(join(project, 'sentinels'));
    const mine = { 'sentinels/gate.json': '{}', 'sentinel.config.mjs': 'export default {};\n', 'package.json': '{}' };
    for (const [file, text] of Object.entries(mine)) write(file, text);
    const { code, stdout } = await init();
    expect(code).toBe(0);
    for (const [file, text] of Object.entries(mine)) expect(read(file)).toBe(text);
    expect(existsSync(join(project, 'sentinel.config.ts'))).toBe(false);
    // A test of ours would fail on a definition that is not.
    expect(existsSync(join(project, 'sentinels/gate.sentinel-test.json'))).toBe(false);
    expect(stdout).toContain('sentinel.config.ts  kept: sentinel.config.mjs is there already');
    expect(stdout).not.toContain('There is no package.json here');
  });

  test('the test is written to the definition that is as it is written here', async () => {
    await init();
    rmSync(join(project, 'sentinels/gate.sentinel-test.json'));
    await init();
    expect(existsSync(join(project, 'sentinels/gate.sentinel-test.json'))).toBe(true);
  });

  test.each([
    ['node_modules', 'node_modules\n.sentinel/\n'],
    ['node_modules\n', 'node_modules\n.sentinel/\n'],
    ['', '.sentinel/\nnode_modules/\n'],
    ['.sentinel\n', '.sentinel\nnode_modules/\n'],
    ['/node_modules/\n', '/node_modules/\n.sentinel/\n'],
    ['a\r\nb', 'a\r\nb\r\n.sentinel/\r\nnode_modules/\r\n'],
    ['/.sentinel\r\nnode_modules\r\n', '/.sentinel\r\nnode_modules\r\n'],
    ['node_modules\ndist\n.sentinel', 'node_modules\ndist\n.sentinel'],
    ['**/.sentinel/\n**/node_modules\n', '**/.sentinel/\n**/node_modules\n'],
    ['.sentinel/*\nnode_modules/**\n', '.sentinel/*\nnode_modules/**\n'],
    ['!.sentinel/keep\nnode_modules\n', '!.sentinel/keep\nnode_modules\n.sentinel/\n'],
    ['.sentinel-old/\nnode_modules\n', '.sentinel-old/\nnode_modules\n.sentinel/\n'],
  ])('.gitignore %j becomes %j', async (before, after) => {
    write('.gitignore', before);
    await init();
    expect(read('.gitignore')).toBe(after);
    await init();
    expect(read('.gitignore')).toBe(after);
  });

  test('an installed package is not installed again', async () => {
    mkdirSync(join(project, 'node_modules/sentinel-engine'), { recursive: true });
    expect((await init()).stdout).not.toContain('npm install');
    expect((await init('packages/one')).stdout).not.toContain('npm install');
  });

  test('below the folder that has the package, the line belongs where the data are', async () => {
    mkdirSync(join(project, 'node_modules/sentinel-engine'), { recursive: true });
    const line = `its services keep their data there: add .sentinel/ to ${join(project, '.gitignore')}.`;
    const inHere = { cwd: project, env: { SENTINEL_HOME: '' } };
    expect((await cli.run(['init', 'packages/one'], inHere)).stdout).toContain(line);
    expect((await cli.run(['init'], inHere)).stdout).not.toContain('keep their data');
    expect((await cli.run(['init', 'packages/one'], inHere)).stdout).not.toContain('keep their data');
  });

  test('below the root of a repository, GitHub would not find the workflow', async () => {
    mkdirSync(join(project, '.git'));
    expect((await init()).stdout).not.toContain('in the root of the repository');
    expect((await init('packages/one')).stdout).toContain('in the root of the repository');
  });
});

describe('what is in the way is refused, and nothing is written', () => {
  test.each([
    ['sentinels', 'sentinels is a file, and "sentinels" has to be a folder'],
    ['.github', '.github is a file, and ".github" has to be a folder'],
  ])('a file %s', async (file, finding) => {
    write(file, 'mine');
    const { code, stderr } = await init();
    expect(code).toBe(2);
    expect(stderr).toContain(finding);
    expect(stderr).toContain('move the file away, or give another folder');
    expect(Object.keys(everything())).toEqual([join(project, file)]);
  });

  test('a folder where a file belongs', async () => {
    mkdirSync(join(project, '.gitignore'));
    const { code, stderr } = await init();
    expect(code).toBe(2);
    expect(stderr).toContain('.gitignore');
    expect(stderr).toContain('is a folder; move it away');
    expect(everything()).toEqual({});
  });

  test('a file in place of the project', async () => {
    write('notes.txt', 'mine');
    for (const place of ['notes.txt', 'notes.txt/below']) {
      const { code, stderr } = await init(place);
      expect(code).toBe(2);
      expect(stderr).toContain('give a folder');
    }
  });

  test('a folder that cannot be written', async () => {
    const { code, stdout, stderr } = await init('/proc/sentinel', '--json');
    expect(code).toBe(2);
    expect(stderr).toContain('/proc/sentinel');
    expect(stderr).toContain('give a folder that you may write');
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'USAGE' } });
  });
});

test('the workflow of docs/ci.md is the one that is written', () => {
  const page = readFileSync(join(root, 'docs/ci.md'), 'utf8');
  expect(page).toContain(`\`\`\`yaml\n${readFileSync(join(root, 'sentinels/init/github-workflow.yml'), 'utf8')}\`\`\``);
});

test('validate of a folder without definitions says so', async () => {
  mkdirSync(join(project, 'node_modules/x'), { recursive: true });
  write('node_modules/x/a.json', '{}');
  const { code, stderr } = await cli.run(['validate', '.'], { cwd: project });
  expect(code).toBe(2);
  expect(stderr).toContain('. holds no definition');
});
