/** What docs/durability.md promises is what the campaign holds runs against, and what it says of a campaign was recorded. */
import { expect, test } from 'vitest';
import { promiseRows } from '../campaign/promises.ts';
import type { RecordedCampaign } from '../campaign/record.ts';
import { read } from './tree.ts';

const recorded = JSON.parse(read('test/campaign/recorded.json')) as RecordedCampaign;
const figures = (count: number): string => count.toLocaleString('en-US');

test('the table of how often something happens is the one of the campaign', () => {
  const [, table = ''] = read('docs/durability.md').split('| what | happens | because |\n|---|---|---|\n');
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(promiseRows());
});

test('the recorded campaign was a whole one, lost nothing, did nothing twice that is promised once, and no run differed', () => {
  const { cases, lost, twice, other } = recorded;
  expect({ lost, twice, other }).toEqual({ lost: 0, twice: 0, other: 0 });
  expect(cases).toBeGreaterThanOrEqual(10_000);
});

test.each(['docs/durability.md', 'README.md'])('%s quotes the figures of the recorded campaign', (page) => {
  const { cases, interpreter, servers } = recorded;
  const deaths = figures(interpreter.deaths + servers.deaths);
  expect(read(page)).toContain(`${figures(cases)} cases of ${deaths} deaths`);
  expect(read(page)).toContain(`${servers.pointsReached} of ${servers.points} points`);
});

test('docs/durability.md says how many cases were with services, and how many workers were killed', () => {
  const { seed, interpreter, servers } = recorded;
  const page = read('docs/durability.md');
  expect(page).toContain(`seed ${seed}`);
  expect(page).toContain(`${figures(interpreter.cases)} on the interpreter`);
  expect(page).toContain(`${figures(servers.cases)} of ${figures(servers.runs)} runs on services`);
  expect(page).toContain(`${servers.deeds.killed} workers were killed`);
});
