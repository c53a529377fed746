/** Temporal's database is a file in the home. Whoever gets a copy of it, without the key, reads nothing of what runs said. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopServices } from '../../../services/stop-services.ts';
import { freshServices, sentinel, type FreshServices } from '../harness/fresh-services.ts';

let services: FreshServices;
beforeAll(async () => {
  services = await freshServices();
});
afterAll(async () => {
  await stopServices(services.options);
  rmSync(services.home, { recursive: true, force: true });
}, 120_000);

const secret = 'mark-b41e';

const definition = {
  name: 'whispers-to-a-file',
  description: `Says ${secret}`,
  inputs: { given: secret },
  loop: { type: 'once' },
  steps: [
    { type: 'shell', command: `echo ${secret}-out; echo ${secret}-err >&2`, outputTo: 'said' },
    {
      type: 'command',
      command: 'data/create',
      params: { collection: 'told', data: { text: `${secret} {{said.stdout}}` } },
    },
    { type: 'fail', message: `${secret} failed` },
  ],
};

it('the file of Temporal holds nothing that a run said', { timeout: 180_000 }, async () => {
  const file = join(services.home, 'whispers.json');
  writeFileSync(file, JSON.stringify(definition));
  const { code, out, err } = await sentinel(services.options.env, 'run', file);
  expect({ code, out, err }).toMatchObject({ code: 1, out: expect.stringContaining(`${secret} failed`) as string });
  const folder = join(services.home, 'temporal');
  // With what its journal has and the file itself has not yet.
  const files = readdirSync(folder).filter((name) => name.startsWith('temporal.db'));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
  expect(bytes.includes(definition.name)).toBe(true);
  expect(bytes.includes(secret)).toBe(false);
  expect(bytes.includes(Buffer.from(secret).toString('base64').slice(0, 10))).toBe(false);
});
