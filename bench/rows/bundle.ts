/** What a worker loads, and how long it takes from its process's start to its ready line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { buildBundle } from '../../runs/bundle.ts';
import { bounded, median, type Row } from '../report.ts';
import { packageRoot, type World } from '../world.ts';

export async function bundleRows(world: World, quick: boolean): Promise<Row[]> {
  const code = await buildBundle();
  const found = forbiddenIn(code);
  const starts: number[] = [];
  for (let turn = 0; turn < (quick ? 2 : 5); turn += 1) starts.push(await workerStartMs(world));
  return [
    bounded('workflow bundle', { value: Buffer.byteLength(code) / 1e6, unit: 'MB', atMost: 1.6 }),
    bounded('forbidden modules in the bundle', {
      value: found.length,
      unit: 'modules',
      atMost: 0,
      note: found.join(', '),
    }),
    bounded('start of a worker', { value: median(starts) / 1000, unit: 's', atMost: 3 }),
  ];
}

/** The bundler names each module's path where it begins, and leaves imports it cannot resolve as `require`. */
function forbiddenIn(code: string): string[] {
  const packages = ['zod', '@prisma/client', 'prisma', 'pg'].filter((name) => code.includes(`/node_modules/${name}/`));
  const builtins = builtinModules.filter(
    (name) => code.includes(`require("${name}")`) || code.includes(`require("node:${name}")`),
  );
  return [...packages, ...builtins];
}

async function workerStartMs(world: World): Promise<number> {
  const { address, databaseUrl, folder } = world.stage;
  const env = { ...process.env, TEMPORAL_ADDRESS: address, DATABASE_URL: databaseUrl, SENTINEL_HOME: folder };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(packageRoot, 'dist', 'worker', 'main.js')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([once(child.stdout, 'data'), exited])) as [unknown];
  const ms = performance.now() - startedAt;
  child.kill('SIGTERM');
  await exited;
  return String(line).includes('"ready":true') ? ms : Number.NaN;
}
