/** The first example of docs/personas.md, on real services. */
import { afterAll, beforeAll, test } from 'vitest';
import { Harness } from '../harness/harness.ts';
import { expectFirstExample } from './page-shell.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

test('docs/personas.md: a model that a person makes owns a run, and is trusted', () =>
  expectFirstExample('docs/personas.md', harness));
