/** `sentinel simulate` of model steps: what is asked, and each call with its verdict, as replies script them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SimulationReport } from '../../../authoring/simulate/simulate.ts';
import { buildCli, type BuiltCli } from './built-cli.ts';

let cli: BuiltCli;
beforeAll(async () => {
  cli = await buildCli();
  mkdirSync(join(cli.folder, 'project'));
  writeFileSync(join(cli.folder, 'project', 'a.txt'), 'one\n');
});
afterAll(() => cli.remove());

async function report(more: object, ...args: string[]): Promise<SimulationReport> {
  const asking = { type: 'llm', prompt: 'Look at a.txt', tools: ['code/read', 'code/write'], outputTo: 'answer' };
  const given = { name: 'case', steps: [asking], loop: { type: 'once' }, ...more };
  writeFileSync(join(cli.folder, 'case.json'), JSON.stringify(given));
  const { stdout } = await cli.run(['simulate', 'case.json', '--project', 'project', '--json', ...args]);
  return JSON.parse(stdout) as SimulationReport;
}

const step = ({ steps }: SimulationReport, key: string): SimulationReport['steps'][number] | undefined =>
  steps.find((one) => one.key === key);

it('says what it asks, and shows each call that the replies script with its verdict', async () => {
  writeFileSync(
    join(cli.folder, 'replies.json'),
    JSON.stringify({
      llm: [
        { calls: [{ name: 'code/read', input: { path: 'a.txt' } }] },
        { calls: [{ name: 'code/write', input: { path: 'b.txt', content: 'x' } }] },
        'Done.',
      ],
    }),
  );
  const given = { safety: { requireApproval: ['write'] } };
  const simulated = await report(given, '--replies', join(cli.folder, 'replies.json'));
  expect(simulated.outputs).toEqual({ answer: 'Done.' });
  expect(step(simulated, 'steps.0@1')).toMatchObject({ effect: 'asks a model Look at a.txt', verdict: 'allowed' });
  expect(step(simulated, 'steps.0@1/turn.1/call.0')).toMatchObject({ permission: 'read', verdict: 'allowed' });
  expect(step(simulated, 'steps.0@1/turn.2/call.0')).toMatchObject({
    permission: 'write',
    verdict: 'needs approval',
  });
  expect(simulated.files.map(({ path }) => path)).toEqual(['b.txt']);
});

it('without a reply is answered with nothing', async () => {
  const simulated = await report({});
  expect(simulated).toMatchObject({ outcome: 'completed', outputs: { answer: '' } });
});
