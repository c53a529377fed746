/** `kill -9` of a process that writes a changeset, before and after each of its fourteen operations: whoever comes next finds all as before, or as approved. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { type Settled, settle } from '../../../systems/cycle/changesets/apply.ts';
import { ARMED, type CrashPlan, type PlannedDeath } from '../../../world/crash-points/armed-deaths.ts';
import { placeOf } from '../../../world/git/trees/shadow-git.ts';
import { temporaryFolder } from '../harness/step-context.ts';
import type { WrittenProject } from '../harness/written-project.ts';
import { FOURTEEN, projectOfFourteen, treeOf } from './fourteen.ts';

/** As one file, since it is started again and again. */
async function builtWriter(): Promise<string> {
  const outfile = join(await temporaryFolder(), 'writer.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'writer.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}

/** Ends well, or by the death that is planned. */
async function write(writer: string, { project, home }: WrittenProject, ...deaths: PlannedDeath[]): Promise<void> {
  const file = join(home, 'operations.json');
  writeFileSync(file, JSON.stringify(FOURTEEN));
  const plan: CrashPlan = { record: join(home, 'passed'), deaths };
  const done = await execa(process.execPath, [writer, project, home, file], {
    env: { [ARMED]: JSON.stringify(plan) },
    reject: false,
  });
  expect(done.exitCode ?? done.signal, done.stderr).toBe(deaths.length === 0 ? 0 : 'SIGKILL');
}

const settleIn = ({ project, home }: WrittenProject): Settled =>
  settle({ root: project, place: placeOf(home, project), check: () => undefined });

const kill = (point: PlannedDeath['point'], nth = 1): PlannedDeath => ({ point, nth, do: 'kill' });

test('at each operation', async () => {
  const writer = await builtWriter();
  const whole = await projectOfFourteen();
  await write(writer, whole);
  const approved = treeOf(whole.project);
  const deaths = [kill('changeset.recorded'), ...FOURTEEN.map((_, at) => kill('changeset.placed', at + 1))];
  const left = [...deaths.entries()];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const [at, death] = one;
      const project = await projectOfFourteen();
      const before = treeOf(project.project);
      await write(writer, project, death);
      const isWhole = at === deaths.length - 1;
      expect(settleIn(project), death.point).toMatchObject({ how: isWhole ? 'forward' : 'back', left: [] });
      expect(treeOf(project.project), `${death.point} ${death.nth}`).toEqual(isWhole ? approved : before);
    }
  };
  await Promise.all([next(), next()]);
});
