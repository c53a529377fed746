/** Which checks a folder of a project has: by its configuration, and what it says of itself. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { findHelper } from '../../../world/own-programs/helper-programs.ts';
import { plainText } from '../../../world/files/plain-file.ts';
import type { Check, CheckName } from './check.ts';
import { parseAnyOutput } from './parse/any-output.ts';
import { parseCargo } from './parse/cargo.ts';
import { parseGo } from './parse/go.ts';
import { parseJest } from './parse/jest.ts';
import { parseNodeTest, parsePytest } from './parse/junit.ts';
import { parseTypeScript } from './parse/typescript.ts';
import { parseUnittest } from './parse/unittest.ts';

export interface Looked {
  /** Real path of the project. */
  root: string;
  /** Where checks are looked for, from the project; empty for the project itself. */
  folder: string;
  /** The one test file that is meant, from `folder`. */
  testFile?: string;
  /** The checks that are asked for, where only some are. */
  asked?: readonly CheckName[];
}

/** What is looked for, for whoever has none of it. */
export const LOOKED_FOR =
  'tsconfig.json; vitest, jest or a "test" script in package.json; test files of node:test; pytest.ini, pyproject.toml, setup.cfg, tox.ini, setup.py or test_*.py; Cargo.toml; go.mod';

export function findChecks(looked: Looked): Check[] {
  const found = [
    ...typescript(looked),
    ...javascript(looked),
    ...pytest(looked),
    ...unittest(looked),
    ...cargo(looked),
    ...go(looked),
  ];
  const { testFile } = looked;
  if (testFile === undefined) return found;
  return found.filter(({ name, hasTests }) => hasTests && TESTED[extname(testFile)]?.includes(name) !== false);
}

const SCRIPTS: readonly Check['name'][] = ['vitest', 'jest', 'node:test', 'npm test'];
const TESTED: { readonly [extension: string]: readonly Check['name'][] } = {
  '.py': ['pytest', 'unittest'],
  '.rs': ['cargo'],
  '.go': ['go'],
  ...Object.fromEntries(['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx'].map((name) => [name, SCRIPTS])),
};

const has = ({ root, folder }: Looked, ...names: string[]): boolean =>
  names.some((name) => existsSync(join(root, folder, name)));

const textOf = ({ root, folder }: Looked, name: string): string => plainText(join(root, folder, name)) ?? '';

function packageOf(looked: Looked): JsonObject {
  try {
    const read = JSON.parse(textOf(looked, 'package.json')) as Json;
    return isJsonObject(read) ? read : {};
  } catch {
    return {};
  }
}

/** A program of the project's packages, from the folder or one around it; null where it is not installed. */
function installed({ root, folder }: Looked, name: string): string | null {
  const files = foldersUp(folder).map((at) => join(root, at, 'node_modules', '.bin', name));
  return files.find((file) => existsSync(file)) ?? null;
}

/** The PATH as it is: what is found is a program of the step, and no helper of ours. */
const onPath = (name: string): string | null => findHelper(name, process.env['PATH'] ?? '');

type Program = Pick<Check, 'command' | 'missing'>;

const packaged = (looked: Looked, name: string): Program => {
  const file = installed(looked, name);
  return file === null
    ? { command: name, missing: `${name} is not installed in the project; run "npm install" first` }
    : { command: file };
};

const onHost = (name: string): Program =>
  onPath(name) === null
    ? { command: name, missing: `${name} is not on the PATH of the worker; install it` }
    : { command: name };

function typescript(looked: Looked): Check[] {
  if (!has(looked, 'tsconfig.json')) return [];
  const file = installed(looked, 'tsc') ?? onPath('tsc');
  const program = file === null ? packaged(looked, 'tsc') : { command: file };
  const args = ['--noEmit', '--pretty', 'false', '-p', 'tsconfig.json'];
  return [{ name: 'typescript', hasTests: false, ...program, args, parse: parseTypeScript }];
}

function javascript(looked: Looked): Check[] {
  const { testFile } = looked;
  const described = packageOf(looked);
  const packages = ['dependencies', 'devDependencies'].flatMap((kind) =>
    isJsonObject(described[kind]) ? Object.keys(described[kind]) : [],
  );
  const script = scriptOf(described);
  const uses = (name: string, configuration: RegExp): boolean =>
    packages.includes(name) ||
    new RegExp(String.raw`\b${name}\b`).test(script) ||
    namesIn(looked).some((file) => configuration.test(file));
  const only = testFile === undefined ? [] : [testFile];
  if (uses('vitest', /^vitest\.(?:config|workspace)\.[cm]?[jt]s$/))
    return [
      {
        name: 'vitest',
        hasTests: true,
        ...packaged(looked, 'vitest'),
        args: ['run', '--reporter=json', ...only],
        parse: parseJest,
      },
    ];
  if (uses('jest', /^jest\.config\.(?:[cm]?[jt]s|json)$/))
    return [
      {
        name: 'jest',
        hasTests: true,
        ...packaged(looked, 'jest'),
        args: ['--json', '--ci', ...(testFile === undefined ? [] : ['--runTestsByPath', testFile])],
        parse: parseJest,
      },
    ];
  return nodeTests(looked, script);
}

const NOTHING = /no test specified/;

function scriptOf({ scripts }: JsonObject): string {
  const script = isJsonObject(scripts) ? scripts['test'] : undefined;
  return typeof script === 'string' && !NOTHING.test(script) ? script : '';
}

/** Of a script that is read. */
const scriptLengthMax = 4_000;

/** A script that starts Node's own runner, and nothing else, is asked for a report that can be read. */
function nodeTests(looked: Looked, script: string): Check[] {
  const { testFile } = looked;
  if (script.length > scriptLengthMax) return [];
  const runner = /^node(?: [^&|;<>`$()'"]*)? --test\b(?!-)[^&|;<>`$()]*$/.exec(script);
  const reporter = '--test-reporter=junit';
  if (runner !== null && !script.includes('--test-reporter')) {
    const [before = '', after = ''] = script.split(/ --test\b(?!-)/);
    const line = testFile === undefined ? after : ` ${quoted(testFile)}`;
    return [
      { name: 'node:test', hasTests: true, command: `${before} --test ${reporter}${line}`, parse: parseNodeTest },
    ];
  }
  if (script !== '') {
    const args = ['test', '--silent', ...(testFile === undefined ? [] : ['--', testFile])];
    const reads = npmReads(looked);
    return [{ name: 'npm test', hasTests: true, ...onHost('npm'), args, reads, parse: parseAnyOutput }];
  }
  if (!usesNodeTest(looked)) return [];
  const args = ['--test', reporter, ...(testFile === undefined ? [] : [testFile])];
  return [{ name: 'node:test', hasTests: true, command: process.execPath, args, parse: parseNodeTest }];
}

/** Beside the script itself, npm runs those around it, with the shell and the options that its settings name. */
function npmReads(looked: Looked): JsonObject {
  const { scripts } = packageOf(looked);
  const lines = isJsonObject(scripts) ? scripts : {};
  const named = ['pretest', 'test', 'posttest'].filter((name) => lines[name] !== undefined);
  const settings = foldersUp(looked.folder).flatMap((folder) => settingsIn(looked.root, folder));
  return {
    scripts: Object.fromEntries(named.map((name) => [name, lines[name] ?? null])),
    ...(settings.length === 0 ? {} : { settings }),
  };
}

/** Whoever may see the question need not see a key of a registry. */
const SECRET_SETTING = /auth|token|passw|cert|key/i;

function settingsIn(root: string, folder: string): string[] {
  const lines = textOf({ root, folder }, '.npmrc')
    .split('\n')
    .map((line) => line.trim());
  const said = lines.filter((line) => line !== '' && !/^[#;]/.test(line));
  return said.map((line) => (SECRET_SETTING.test(line) ? `${line.split('=')[0]?.trim() ?? ''}=…` : line));
}

/** The folder and those around it, up to the project itself. */
const foldersUp = (folder: string): string[] =>
  folder === '' ? [''] : [folder, ...foldersUp(posix.dirname(folder) === '.' ? '' : posix.dirname(folder))];

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function namesIn({ root, folder }: Looked, below = ''): string[] {
  try {
    return readdirSync(join(root, folder, below));
  } catch {
    return [];
  }
}

/** Files that are tests by their names, in the folder and in those that hold tests. */
function filesIn(looked: Looked, pattern: RegExp): string[] {
  return ['', 'test', 'tests'].flatMap((below) =>
    namesIn(looked, below)
      .filter((name) => pattern.test(name))
      .map((name) => posix.join(below, name)),
  );
}

const usesNodeTest = (looked: Looked): boolean =>
  filesIn(looked, /\.[cm]?js$/).some((name) => /(['"])node:test\1/.test(textOf(looked, name)));

const PYTEST_FILES = ['pytest.ini', 'conftest.py', 'tox.ini', 'setup.cfg', 'pyproject.toml', 'setup.py'];

function pytest(looked: Looked): Check[] {
  const { testFile } = looked;
  const isConfigured =
    has(looked, 'pytest.ini', 'conftest.py') ||
    /^\[tool[.:]pytest/m.test(['pyproject.toml', 'setup.cfg'].map((name) => textOf(looked, name)).join('\n'));
  const hasTests = filesIn(looked, /^(?:test_.*|.*_test)\.py$/).length > 0;
  if (!isConfigured && !hasTests && !(has(looked, ...PYTEST_FILES) && has(looked, 'tests'))) return [];
  const program = python(looked);
  const called = [program.command, '-m', 'pytest', '-q', ...(testFile === undefined ? [] : [testFile])];
  const options = '--color=no -o junit_family=xunit1 --junitxml="$report"';
  // What it prints goes to a socket, which it cannot open as a file.
  const line = `report=$(mktemp) && { ${called.map(quoted).join(' ')} ${options}; code=$?; cat "$report"; rm -f "$report"; exit $code; }`;
  return [{ name: 'pytest', hasTests: true, ...program, command: line, called: called.join(' '), parse: parsePytest }];
}

function python(looked: Looked): Program {
  const { root, folder } = looked;
  const own = ['.venv/bin/python', 'venv/bin/python'].find((name) => has(looked, name));
  if (own !== undefined) return { command: join(root, folder, own) };
  const host = ['python3', 'python'].find((name) => onPath(name) !== null);
  return host === undefined ? onHost('python3') : { command: host };
}

/** Pytest runs these tests, too: only whoever asks for it by name has no pytest. */
function unittest(looked: Looked): Check[] {
  const { asked = [], testFile } = looked;
  if (!asked.includes('unittest')) return [];
  const what = testFile === undefined ? ['discover', '-v'] : ['-v', testFile];
  return [
    { name: 'unittest', hasTests: true, ...python(looked), args: ['-m', 'unittest', ...what], parse: parseUnittest },
  ];
}

function cargo(looked: Looked): Check[] {
  if (!has(looked, 'Cargo.toml')) return [];
  const named = /^tests\/(\w[\w-]*)\.rs$/.exec(looked.testFile ?? '')?.[1];
  const args = [
    'test',
    '--no-fail-fast',
    '--message-format',
    'json',
    ...(named === undefined ? [] : ['--test', named]),
  ];
  return [{ name: 'cargo', hasTests: true, ...onHost('cargo'), args, env: { RUST_BACKTRACE: '0' }, parse: parseCargo }];
}

function go(looked: Looked): Check[] {
  if (!has(looked, 'go.mod')) return [];
  const { testFile } = looked;
  const module = /^module\s+"?([^\s"]+)/m.exec(textOf(looked, 'go.mod'))?.[1] ?? '';
  const packages = testFile === undefined ? './...' : `./${dirname(testFile)}`;
  const args = ['test', '-json', packages];
  return [{ name: 'go', hasTests: true, ...onHost('go'), args, parse: (printed) => parseGo(printed, module) }];
}
