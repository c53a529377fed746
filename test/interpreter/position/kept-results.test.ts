/** Which fields of results a definition has kept. */
import { expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { keptResultsOf } from '../../../interpreter/results.ts';

function kept(steps: readonly Step[], data: string): { [key: string]: { fields: string[]; besides: string[] } } {
  const definition: Definition = {
    name: 'kept',
    loop: { type: 'once' },
    steps: [...steps, { type: 'emit', event: 'read', data }],
  };
  const found = [...keptResultsOf(definition).byStep].flatMap(([path, keepings]) =>
    keepings.map((keeping) => ({ path, ...keeping })),
  );
  return Object.fromEntries(
    found.map(({ path, key, fields, besides }) => [`${path} ${key}`, { fields: [...fields], besides: [...besides] }]),
  );
}

const health: Step = { type: 'command', command: 'health-check', outputTo: 'h' };
const shell: Step = { type: 'shell', command: 'true', outputTo: 'a' };
const named: Step = { type: 'shell', command: 'true', name: 'h' };

test.each<[string, readonly Step[], string, object]>([
  ['a field behind $', [health], '$h.duration_ms', { 'steps.0 @named.h': { fields: [], besides: ['duration_ms'] } }],
  ['in braces', [health], '{{h.data.x}}', { 'steps.0 @named.h': { fields: [], besides: ['data'] } }],
  ['by its label, as it is', [health], '{{named.h.data}}', { 'steps.0 @named.h': { fields: ['data'], besides: [] } }],
  ['a field that results need not have', [health], '$h.status and $h and {{h.status}}', {}],
  ['a field that every shell has itself', [shell], '$a.exit_code {{a.success}}', {}],
  ['a label that is no variable', [named], '$h.stdout', { 'steps.0 @named.h': { fields: ['stdout'], besides: [] } }],
  [
    'a step that does not set the variable of its name',
    [named, health],
    '$h.data',
    { 'steps.0 @named.h': { fields: ['data'], besides: [] }, 'steps.1 @named.h': { fields: [], besides: ['data'] } },
  ],
])('%s', (_what, steps, data, found) => {
  expect(kept(steps, data)).toEqual(found);
});
