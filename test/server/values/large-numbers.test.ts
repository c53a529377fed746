/** A number of twenty digits on its way through a run: input, output of a process, event, record, condition, result. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

const BIG = '12345678901234567890';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

test('it arrives as it was written, and is equal to itself alone', async () => {
  const definition = once(
    'digits',
    [
      shell(`printf '{"id": ${BIG}, "given": "%s"}' $id`, { outputTo: 'found' }),
      create('orders', { number: '$found.data.id', given: '{{id}}' }),
      { type: 'command', command: 'data/list', params: { collection: 'orders' }, outputTo: 'orders' },
      { type: 'emit', event: 'digits/found', data: { order: '$found.data' } },
      {
        type: 'condition',
        check: `$found.data.id === '${BIG}' && $found.data.id !== '12345678901234567891' && $found.data.id > 5`,
        then: [{ type: 'set', values: { isSame: true } }],
      },
    ],
    { inputs: { id: '' }, outputs: { isSame: '$isSame', id: '$id', order: '$orders[0].number' } },
  );
  writeFileSync(join(harness.project, 'digits.json'), JSON.stringify(definition));
  const { code, out, err } = await harness.command('run', 'digits.json', '--input', `id=${BIG}`, '--json');
  expect(err).not.toContain('BUG');
  expect([code, out]).toEqual([0, expect.stringContaining(BIG)]);
  const handle = (await harness.store.runs.list({ limit: 1 }))[0]?.handle ?? '';
  const { outputs } = await harness.result(handle);
  expect(outputs).toMatchObject({ isSame: true, id: BIG, order: BIG });
  expect(JSON.stringify(outputs)).not.toContain('12345678901234567000');
});

test('calculating with it fails its step with a code', async () => {
  const { result } = await harness.run(
    once('sum', [
      shell(`echo '{"id": ${BIG}}'`, { outputTo: 'found' }),
      { type: 'set', values: { next: '{{found.data.id + 1}}' } },
    ]),
  );
  expect(result).toMatchObject({
    outcome: 'failed',
    failure: { message: expect.stringContaining(`${BIG} cannot be calculated with`) },
  });
});
