/** What must hold of current items however a loop counts and whatever it calls them. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDefinition } from '../../../language/read/definition.ts';
import { randomRuns } from '../../random-runs.ts';
import { catalogue } from '../../catalogue.ts';

const max = fc.constantFrom<string | number>(
  2,
  '$n',
  '$rows',
  '$rows.length',
  '{{rows.length}}',
  'rows.length',
  '$plan?.rows?.length',
  "$plan['to-do'].length",
  '$plan["to-do"]',
  '{{plan.rows}}',
  '$rows.filter(r => r.ok).length',
  '{{ rows.filter(r => r.ok).length }}',
  '$rows.slice(1)',
  'Math.min($rows.length, 3)',
  'Math.min($rows.slice(1).length, 3)',
  '{{steps.0.data.length}}',
  '{{loop.0.data.length}}',
  '$currentRow.length',
  '$iteration',
  '[1, 2]',
  'Object.keys($plan)',
  '({{rows}}).length',
);
const kind = fc.constantFrom({ type: 'count' }, { type: 'until', check: '$currentRow' }, { type: 'continuous' });
const as = fc.constantFrom({}, { as: 'currentRow' }, { as: 'row' }, { as: 'x' });
const read = fc.constantFrom('$currentRow.id', '{{currentRow}}', '$row', '$x', 'nothing');
const inputs = fc.constantFrom({}, { rows: [1, 2] }, { n: 2, plan: { rows: [], 'to-do': [] } });
const loop = fc.tuple(kind, max, as).map(([type, bound, item]) => ({ ...type, max: bound, ...item }));

test('what is inferred is complete, and reads as itself', () => {
  fc.assert(
    fc.property(loop, loop, read, inputs, (outer, inner, data, given) => {
      const steps = [
        { type: 'command', command: 'data/list' },
        { type: 'loop', loop: inner, steps: [{ type: 'emit', event: 'e', data }] },
      ];
      const first = parseDefinition({ name: 'case', steps, loop: outer, inputs: given }, { catalogue });
      if (!first.ok) return;
      const again = parseDefinition(first.definition, { catalogue });
      expect(again).toMatchObject({ ok: true, definition: first.definition, inferred: [] });
      const walked = JSON.stringify(first.definition).match(/"(?:over|as)":/g) ?? [];
      expect(walked.length % 2).toBe(0);
    }),
    randomRuns(1_000),
  );
});
