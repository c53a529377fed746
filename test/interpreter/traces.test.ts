/** Every case in test/cases/traces: its trace and result, and that no way of running it changes them. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../language/json.ts';
import { Definition } from '../../language/model.ts';
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
}

const folder = new URL('../cases/traces/', import.meta.url);
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name): [string, TraceCase] => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as TraceCase]);

afterAll(() => vi.useRealTimers());

describe.each(cases)('%s', (_name, given) => {
  test(`${given.title}: the trace`, async () => {
    for (const definition of [given.definition, ...Object.values(given.library ?? {})]) Definition.parse(definition);
    const { trace, result, effects } = await runCase(given, STRAIGHT);
    expect(trace).toEqual(given.trace);
    expect(result).toMatchObject({ outcome: given.outcome, ...(given.failure === undefined ? {} : { failure: given.failure }) });
    expect(result.limit).toBe(given.limit);
    expect(pick(result.outputs, given.outputs)).toEqual(given.outputs ?? {});
    expect(effects).toMatchObject(given.effects ?? {});
  });

  test.each(MODES.slice(1))('is the same with $name', async (mode) => {
    const straight = await runCase(given, STRAIGHT);
    const other = await runCase(given, mode);
    expect(other.trace).toEqual(straight.trace);
    expect(other.result).toEqual(straight.result);
    expect(other.effects).toEqual(straight.effects);
  });
});

function pick(outputs: { [name: string]: Json }, wanted: { [name: string]: Json } | undefined): { [name: string]: Json } {
  return Object.fromEntries(Object.entries(outputs).filter(([name]) => wanted !== undefined && Object.hasOwn(wanted, name)));
}
