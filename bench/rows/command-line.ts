/** The command line from its process's start to the result, with a home of its own and its services up. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bounded, median, skipped, type Row } from '../report.ts';
import { packageRoot, type World } from '../world.ts';

const execute = promisify(execFile);
const trivial = {
  name: 'trivial',
  loop: { type: 'once' },
  steps: [{ type: 'command', command: 'code/read', params: { path: 'trivial.json' } }],
};

/** 500 steps of every quick kind, each reading what the one before it set. */
const large = {
  name: 'large',
  loop: { type: 'once' },
  steps: Array.from({ length: 125 }, (_, index) => [
    { type: 'shell', command: `echo $said${Math.max(0, index - 1)}.stdout`, outputTo: `said${index}` },
    {
      type: 'condition',
      check: `$said${index}.exitCode === 0 && $said${index}.stdout.includes("a")`,
      then: [{ type: 'emit', event: 'said', data: { text: `$said${index}.stdout` } }],
      else: [{ type: 'command', command: 'code/read', params: { path: `$said${index}.stdout` }, onError: 'skip' }],
    },
  ]).flat(),
};

export async function commandLine(_world: World, quick: boolean): Promise<Row[]> {
  if (!existsSync(join(packageRoot, 'dist', 'cli', 'main.js')))
    return [skipped('./sentinel run', 'the command line is not built; run `npm run build`')];
  const home = mkdtempSync(join(tmpdir(), 'sentinel-bench-home-'));
  const file = join(home, 'trivial.json');
  writeFileSync(file, JSON.stringify(trivial));
  const largeFile = join(home, 'large.json');
  writeFileSync(largeFile, JSON.stringify(large));
  const env = withoutSettings(home);
  const sentinel = async (...args: string[]): Promise<number> => {
    const startedAt = performance.now();
    await execute(join(packageRoot, 'sentinel'), args, { env, cwd: home, timeout: 120_000 });
    return performance.now() - startedAt;
  };
  const several = async (...args: string[]): Promise<number> => {
    const times: number[] = [];
    for (let turn = 0; turn < (quick ? 3 : 10); turn += 1) times.push(await sentinel(...args));
    return median(times);
  };
  try {
    await sentinel('up');
    await sentinel('run', file, '--project', home);
    return [
      bounded('./sentinel run of a trivial sentinel', {
        value: (await several('run', file, '--project', home)) / 1000,
        unit: 's',
        atMost: 1.5,
      }),
      bounded("the command line's own start", { value: await several('--help'), unit: 'ms', atMost: 500 }),
      bounded('./sentinel validate of 500 steps', {
        value: await several('validate', largeFile),
        unit: 'ms',
        atMost: 300,
      }),
      bounded('./sentinel test of the shipped definitions', {
        value: await several('test', join(packageRoot, 'sentinels')),
        unit: 'ms',
        atMost: 700,
      }),
    ];
  } finally {
    await sentinel('down').catch(() => undefined);
    rmSync(home, { recursive: true, force: true });
  }
}

/** Services of the user's own would be measured instead. */
function withoutSettings(home: string): NodeJS.ProcessEnv {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_') && name !== 'DATABASE_URL'),
  );
  return { ...env, SENTINEL_HOME: home };
}
