/** Approval anywhere, cell by cell. approval-table.md beside this file is a snapshot of all cells (`vitest -u` writes it). */
import { describe, expect, test } from 'vitest';
import { applies, definitionFor, KINDS, MOMENTS, PLACES, runCell, table, wordsFor } from './approval-table.ts';
import { MODES } from '../harness/run-case.ts';

const cells = KINDS.flatMap((kind) =>
  PLACES.flatMap((place) =>
    MOMENTS.filter((moment) => applies(kind, moment)).map((moment) => ({ kind, place, moment })),
  ),
);

/** Between which steps of other branches a pause or an edit falls is chance, and so is whether their keys name the revision. */
const steps = (trace: readonly string[]): string[] =>
  trace
    .filter((line) => !/^ *(paused|resumed|revision|warning)/.test(line))
    .map((line) => line.replaceAll(/~\d+/g, ''));
const EVIDENCE = { pause: 'paused', edit: 'edited' } as const;

describe.each(cells)('$kind, $place, answered $moment', ({ kind, place, moment }) => {
  test('asks where it stands, once for each time it is reached, and every way of running agrees', async () => {
    const straight = await runCell(kind, place, moment);
    const { keys } = definitionFor(kind, place, moment);
    const evidence = kind === 'pause' || kind === 'edit' ? EVIDENCE[kind] : 'asked';
    const asked = straight.runs.flatMap((run) => run.events).filter((event) => event.type === evidence);
    if (kind === 'pause') expect(asked.length).toBeGreaterThan(0);
    else if (kind === 'edit') expect(asked.length).toBe(moment === 'after expiry' && keys.length === 1 ? 0 : 1);
    else expect(asked.length).toBe(moment === 'after expiry' ? 1 : keys.length);
    for (const mode of MODES.slice(1)) {
      const other = await runCell(kind, place, moment, mode);
      expect({
        mode: mode.name,
        words: wordsFor(kind, other),
        trace: steps(other.trace),
        result: other.result,
      }).toEqual({
        mode: mode.name,
        words: wordsFor(kind, straight),
        trace: steps(straight.trace),
        result: straight.result,
      });
    }
  });
});

test.each(cells.filter(({ kind, moment }) => moment !== 'after expiry' || kind === 'edit'))(
  '$kind, $place, answered $moment: the run goes on',
  async ({ kind, place, moment }) => {
    expect(wordsFor(kind, await runCell(kind, place, moment))).toMatch(/goes on$/);
  },
);

test('every cell comes out as the snapshot shows', async () => {
  const tables: string[] = [];
  for (const kind of KINDS) tables.push((await table(kind)).join('\n'));
  await expect(`${tables.join('\n\n')}\n`).toMatchFileSnapshot('approval-table.md');
});
