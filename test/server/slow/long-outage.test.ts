/** A database that stays away for a minute: a run waits, however often its steps are tried meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { useOutages } from '../harness/outages.ts';

const openOutages = useOutages();

test('the database is away for 60 s', async () => {
  const outages = await openOutages();
  const expected = await outages.undisturbed();
  await outages.disturb(expected, async () => {
    await outages.services.postgres.kill();
    await sleep(60_000);
    await outages.services.postgres.start();
  });
});
