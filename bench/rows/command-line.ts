/** The command line from its process's start to the result, with a home of its own and its services up. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bounded, median, skipped, type Row } from '../report.ts';
import { packageRoot, type World } from '../world.ts';

const execute = promisify(execFile);
const trivial = { name: 'trivial', loop: { type: 'once' }, steps: [{ type: 'command', command: 'code/read', params: { path: 'trivial.json' } }] };

export async function commandLine(_world: World, quick: boolean): Promise<Row[]> {
  if (!existsSync(join(packageRoot, 'dist', 'client', 'cli', 'main.js'))) return [skipped('./sentinel run', 'the command line is not built; run `npm run build`')];
  const home = mkdtempSync(join(tmpdir(), 'sentinel-bench-home-'));
  const file = join(home, 'trivial.json');
  writeFileSync(file, JSON.stringify(trivial));
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
      bounded('./sentinel run of a trivial sentinel', { value: (await several('run', file, '--project', home)) / 1000, unit: 's', atMost: 1.5 }),
      bounded("the command line's own start", { value: await several('--help'), unit: 'ms', atMost: 500 }),
    ];
  } finally {
    await sentinel('down').catch(() => undefined);
    rmSync(home, { recursive: true, force: true });
  }
}

/** Services of the user's own would be measured instead. */
function withoutSettings(home: string): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_') && name !== 'DATABASE_URL'));
  return { ...env, SENTINEL_HOME: home };
}
