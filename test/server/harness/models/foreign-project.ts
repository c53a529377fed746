/**
 * Projects that were not written here: source packages with their tests, as their registry has them, and a fault
 * put into one of their sources that makes a test of theirs fail.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

export interface Package {
  name: string;
  version: string;
  /** The source that gets a fault. */
  source: string;
  tests: string;
}

/** Without dependencies; each has its tests in the source package. */
export const PACKAGES: readonly Package[] = [
  { name: 'inflection', version: '0.5.1', source: 'inflection/__init__.py', tests: 'test_inflection.py' },
  { name: 'toolz', version: '0.12.1', source: 'toolz/itertoolz.py', tests: 'toolz/tests/test_itertoolz.py' },
  { name: 'more-itertools', version: '10.2.0', source: 'more_itertools/recipes.py', tests: 'tests/test_recipes.py' },
];

/** The package with what runs its tests, in `into/.pytest`; null: the registry is out of reach. */
export async function unpack({ name, version }: Package, into: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-package-'));
  try {
    if (!(await pip('install', '--target', join(into, TOOLS), 'pytest'))) return null;
    const isHere = await pip('download', '--no-deps', '--no-binary', ':all:', '--dest', folder, `${name}==${version}`);
    const [archive] = readdirSync(folder);
    if (!isHere || archive === undefined) return null;
    await execa('tar', ['-xzf', join(folder, archive), '--strip-components=1', '-C', into]);
    return into;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const TOOLS = '.pytest';

async function pip(...args: string[]): Promise<boolean> {
  const { exitCode } = await execa('python3', ['-m', 'pip', ...args, '--quiet', '--disable-pip-version-check'], {
    reject: false,
    timeout: 120_000,
  });
  return exitCode === 0;
}

export const buildOf = ({ tests }: Package): string =>
  `PYTHONPATH=${TOOLS} python3 -m pytest -q -x -p no:cacheprovider --override-ini addopts= ${tests}`;

export async function passes(project: string, wanted: Package): Promise<boolean> {
  const env = { PYTHONDONTWRITEBYTECODE: '1' };
  const { exitCode } = await execa('sh', ['-c', buildOf(wanted)], {
    cwd: project,
    reject: false,
    timeout: 120_000,
    env,
  });
  return exitCode === 0;
}

/** What is written, and what is written in its place. */
const OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/ == /, ' != '],
  [/ < /, ' >= '],
  [/ \+ /, ' - '],
  [/ and /, ' or '],
  [/\bTrue\b/, 'False'],
  [/\breturn (?!None\b)\S.*$/, 'return None'],
];

export interface Fault {
  /** The line as it was, and as it is, each with its indentation. */
  right: string;
  wrong: string;
}

/** The first line whose fault a test sees, and that is there once, so that a model can find it. */
export async function putFault(project: string, wanted: Package): Promise<Fault> {
  const file = join(project, wanted.source);
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  for (const [pattern, instead] of OPERATORS) {
    for (const [index, right] of lines.entries()) {
      const wrong = right.replace(pattern, instead);
      const isProse = /^\s*(?:#|>>>|\.\.\.|['"])/.test(right) || !/^\s{4,}/.test(right);
      if (wrong === right || isProse || lines.includes(wrong)) continue;
      writeFileSync(file, [...lines.slice(0, index), wrong, ...lines.slice(index + 1)].join('\n'));
      if (!(await passes(project, wanted))) return { right, wrong };
    }
    writeFileSync(file, text);
  }
  throw new Error(`no fault of ${wanted.name} is seen by its tests`);
}
