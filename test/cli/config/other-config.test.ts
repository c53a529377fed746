/** A run is refused where the worker has the configuration of another project, before anything is stored. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startRun, type RunServices } from '../../../runs/start-run.ts';
import { parseDefinition } from '../../../language/read/definition.ts';

const project = mkdtempSync(join(tmpdir(), 'sentinel-other-config-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Touching any of it is a start. */
const untouchable = new Proxy(
  {},
  {
    get(_target, name) {
      throw new Error(`it went on to ${String(name)}`);
    },
  },
);

async function outcome(parts: Partial<RunServices>): Promise<string> {
  const hello = { name: 'hello', steps: [{ type: 'emit', event: 'x' }], loop: { type: 'once' } };
  const read = parseDefinition(hello, { catalogue: {} });
  if (!read.ok) throw new Error('the definition has problems');
  const services = { store: untouchable, client: untouchable, catalogue: {}, taskQueue: 'q', ...parts } as RunServices;
  const started = startRun(services, { definition: read.definition, inputs: {}, project, persona: 'ada' });
  return started.then(
    () => 'started',
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

test('by what the worker has', async () => {
  expect(await outcome({ workerProject: null })).toMatch(/^Error: it went on/);
  writeFileSync(join(project, 'sentinel.config.mjs'), 'export default {};');
  expect(await outcome({ workerProject: null })).toMatch(
    /^CONFIG_DIFFERS: .*sentinel\.config\.mjs is not what the worker has/,
  );
  expect(await outcome({ workerProject: project })).toMatch(/^Error: it went on/);
  // What nobody here can know is left to the worker.
  expect(await outcome({})).toMatch(/^Error: it went on/);
  expect(await outcome({ workerProject: null, isElsewhere: true })).toMatch(/^Error: it went on/);
});
