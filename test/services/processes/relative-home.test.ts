/** A home that is named from the folder one stands in: the services run in folders of their own, and mean the same one. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopServices } from '../../../services/stop-services.ts';
import { CLI } from '../../server/harness/harness.ts';
import { freshServices, type FreshServices } from '../harness/fresh-services.ts';

let home: string;
let project: string;
let options: FreshServices['options'];
beforeAll(async () => {
  ({ home, options } = await freshServices());
  project = `${home}-project`;
});
afterAll(async () => {
  await stopServices(options);
  for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
});

const sentinel = (cwd: string, named: string, ...args: string[]) =>
  execa(process.execPath, [CLI, ...args], { cwd, env: { ...options.env, SENTINEL_HOME: named }, reject: false });

test('a run, from two folders, and the end of the services', async () => {
  mkdirSync(project);
  const step = { type: 'shell', command: 'echo done here', outputTo: 'said' };
  writeFileSync(join(project, 'one.json'), JSON.stringify({ name: 'one', steps: [step], outputs: { said: '$said' } }));
  const ran = await sentinel(dirname(home), basename(home), 'run', join(project, 'one.json'), '--id', 'here');
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  const seen = await sentinel(project, join('..', basename(home)), 'status', 'here', '--json');
  expect(seen, seen.stderr).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(seen.stdout)).toMatchObject({ status: 'completed', outputs: { said: { stdout: 'done here\n' } } });
  expect(existsSync(join(home, basename(home)))).toBe(false);
  expect(readdirSync(project)).toEqual(['one.json']);
  const ended = await sentinel(project, join('..', basename(home)), 'down');
  expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
  expect(JSON.parse((await sentinel(project, join('..', basename(home)), 'doctor', '--json')).stdout)).toMatchObject({
    ok: false,
  });
}, 180_000);
