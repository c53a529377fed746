/** Cron texts of others, as long as a value may be: read or refused at once, and never said back whole. */
import { expect, test } from 'vitest';
import { parseDefinition } from '../../../language/read/definition.ts';
import { readCron } from '../../../runs/calendar/cron.ts';
import { catalogue } from '../../catalogue.ts';
import { processorMs } from '../../elapsed.ts';

const reading = (cronExpression: string) =>
  parseDefinition(
    {
      name: 'timed',
      loop: { type: 'once' },
      trigger: { type: 'schedule', cronExpression },
      steps: [{ type: 'shell', command: 'true' }],
    },
    { catalogue },
  );

test.each([
  ['a list', `${'0,'.repeat(400_000)}0 * * * *`],
  ['ranges', `${'0-59,'.repeat(200_000)}0 * * * *`],
  ['ranges of months', `* * * ${'1-12,'.repeat(200_000)}1 *`],
  ['slashes', `${'/1'.repeat(400_000)} * * * *`],
  ['spaces', `0${' '.repeat(800_000)}x`],
  ['digits', `@every ${'1'.repeat(800_000)}`],
])('%s of 800 kB take a moment, and are refused with a short text', (_what, text) => {
  expect(processorMs(() => reading(text))).toBeLessThan(200);
  expect(processorMs(() => readCron(text, 'UTC'))).toBeLessThan(50);
  const said = readCron(text, 'UTC');
  expect(said).toMatchObject({ ok: false, finding: expect.stringContaining('longer than 1000 characters') as string });
  expect(JSON.stringify([said, reading(text).problems]).length).toBeLessThan(2_000);
  expect(reading(text).problems).toMatchObject([{ code: 'BAD_CRON' }]);
});

test('every minute of an hour but one, spelt out, is read', () => {
  const minutes = Array.from({ length: 59 }, (_, minute) => minute).join(',');
  expect(readCron(`${minutes} * * * *`, 'UTC')).toMatchObject({ ok: true });
  expect(reading(`${minutes} * * * *`)).toMatchObject({ ok: true });
});
