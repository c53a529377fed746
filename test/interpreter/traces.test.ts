/** Every case in test/cases/traces: its trace and result, and that no way of running it changes them. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../language/json.ts';
import { Definition } from '../../language/model.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import type { RunOutcome } from '../../language/run-event.ts';
import { MODES, runCase, STRAIGHT, type Scenario } from './run-case.ts';

interface TraceCase extends Scenario {
  title: string;
  trace: string[];
  outcome: RunOutcome;
  limit?: string;
  failure?: { code: string; message?: string };
  /** Variables to look at; those not named may be anything. */
  outputs?: { [name: string]: Json };
  /** Effects to look at, each by the fields named. */
  effects?: { [key: string]: Json };
  /** Given in the canonical form already: the reader would refuse it, and the walk must not mind. */
  canonical?: boolean;
  /** Ways of running that give this trace; all, where which branch is first does not decide it. */
  modes?: string[];
}

const folder = new URL('../cases/traces/', import.meta.url);
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name): [string, TraceCase] => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as TraceCase]);

afterAll(() => vi.useRealTimers());

describe.each(cases)('%s', (_name, given) => {
  const scenario = parsed(given);
  const modes = MODES.slice(1).filter((mode) => given.modes?.includes(mode.name) ?? true);

  test(`${given.title}: the trace`, async () => {
    const { trace, result, effects } = await runCase(scenario, STRAIGHT);
    expect(trace).toEqual(given.trace);
    expect(result).toMatchObject({ outcome: given.outcome, ...(given.failure === undefined ? {} : { failure: given.failure }) });
    expect(result.limit).toBe(given.limit);
    expect(pick(result.outputs, given.outputs)).toEqual(given.outputs ?? {});
    expect(effects).toMatchObject(given.effects ?? {});
  });

  test.each(modes)('is the same with $name', async (mode) => {
    const straight = await runCase(scenario, STRAIGHT);
    const other = await runCase(scenario, mode);
    expect(other.trace).toEqual(straight.trace);
    expect(other.result).toEqual(straight.result);
    expect(other.effects).toEqual(straight.effects);
  });
});

function parsed(given: TraceCase): Scenario {
  if (given.canonical === true) return { ...given, definition: Definition.parse(given.definition) };
  const library: { [name: string]: Definition } = {};
  for (const [name, definition] of Object.entries(given.library ?? {})) library[name] = read(definition, given.library);
  return { ...given, definition: read(given.definition, given.library), library };
}

function read(definition: unknown, library: { [name: string]: Definition } = {}): Definition {
  const result = parseDefinition(definition, { knownRefs: (name) => library[name] });
  if (!result.ok) throw new Error(result.problems.map((problem) => `${problem.code} ${problem.path}: ${problem.message}`).join('\n'));
  return result.definition;
}

function pick(outputs: { [name: string]: Json }, wanted: { [name: string]: Json } | undefined): { [name: string]: Json } {
  return Object.fromEntries(Object.entries(outputs).filter(([name]) => wanted !== undefined && Object.hasOwn(wanted, name)));
}
