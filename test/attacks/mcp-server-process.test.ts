/** The process of an MCP server acts for runs: it is no person, and nothing that it starts outlives it. */
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openTransport } from '../../world/mcp/open-transport.ts';
import { processStart } from '../../world/processes/processes.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';

const marks = fileURLToPath(new URL('../../dist/world/processes/step-mark.js', import.meta.url));

async function serve(server: string): Promise<string> {
  const project = await temporaryFolder();
  await writeFile(
    join(project, 'asks.mjs'),
    `import { isWithinStep } from '${marks}'; process.stdout.write(String(await isWithinStep()));`,
  );
  const { transport } = await openTransport({ command: '/bin/sh', args: ['-c', server], env: {} }, project);
  await transport.start();
  while (
    !(await access(join(project, 'ready')).then(
      () => true,
      () => false,
    ))
  )
    await sleep(20);
  await transport.close();
  return project;
}

it('it is inside a step, without its variables too', async () => {
  const project = await serve(`env -i "${process.execPath}" asks.mjs > said; : > ready; cat`);
  expect(await readFile(join(project, 'said'), 'utf8')).toBe('true');
});

it.each([
  ['ends with its input', 'cat'],
  ['goes on without it', 'sleep 600'],
])('what it has left behind ends with it: one that %s', { timeout: 20_000 }, async (_how, rest) => {
  const left = `(setsid env -i sh -c 'ulimit -S -w unlimited; echo $$ > pid; exec sleep 600' > /dev/null 2>&1 &)`;
  const project = await serve(`${left}; while [ ! -s pid ]; do sleep 0.02; done; : > ready; ${rest}`);
  await sleep(200);
  expect(await processStart(Number(await readFile(join(project, 'pid'), 'utf8')))).toBeNull();
});
