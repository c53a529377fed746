/** What a run has from the one whose step started it by a command holds for all of its histories. */
import { expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';
import type { RunLimits } from '../../../interpreter/effect.ts';
import { rightsOf } from '../../../interpreter/limits.ts';
import { runInputOf, startInputOf, type StartInput } from '../../../workflows/messages/start-input.ts';

const around: RunLimits = {
  maxIterations: 3,
  timeoutMs: 1000,
  stepTimeoutMs: 500,
  nestingDepth: 4,
  requireApproval: ['shell'],
  mode: 'sandboxed',
  memoryMb: 64,
  budget: { steps: 9 },
};

const lax: Definition = {
  name: 'lax',
  loop: { type: 'count', max: 9 },
  steps: [],
  mode: 'full',
  safety: { maxNestingDepth: 8, maxMemoryMb: 512, requireApproval: ['write'], budget: { steps: 100 } },
};

const startOf = (nested?: StartInput['nested']): StartInput => ({
  definition: lax,
  project: '/',
  persona: 'ada',
  ...defined({ nested }),
});

test('it may do what the run may that started it, and is bound by itself in time and passes', () => {
  const inherited = rightsOf(around);
  expect(inherited).toEqual({
    maxIterations: null,
    timeoutMs: null,
    stepTimeoutMs: 500,
    nestingDepth: 4,
    requireApproval: ['shell'],
    mode: 'sandboxed',
    memoryMb: 64,
  });
  const input = runInputOf(startOf({ depth: 3, limits: { ...inherited, budget: { steps: 4 } } }), 'run-1', 0);
  expect(input).toMatchObject({ depth: 3, parent: null });
  expect(input.limits).toMatchObject({
    nestingDepth: 4,
    requireApproval: ['shell', 'write'],
    mode: 'sandboxed',
    memoryMb: 64,
    budget: { steps: 4 },
  });
});

test('continuing as new it may do the same, and so may a nested run; one that a person started begins with its own', () => {
  const inherited = { depth: 2, limits: rightsOf(around) };
  for (const nested of [inherited, { ...inherited, parent: 'outer' }, undefined]) {
    const input = runInputOf(startOf(nested), 'run-1', 0);
    const { depth, parent, limits } = runInputOf(startInputOf(input, input.limits), 'run-1', 0);
    expect({ depth, parent, limits }).toEqual({ depth: input.depth, parent: input.parent, limits: input.limits });
  }
  expect(startInputOf(runInputOf(startOf(), 'run-1', 0), around)).not.toHaveProperty('nested');
});
