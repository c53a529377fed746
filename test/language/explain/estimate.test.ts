/** Estimates of history against histories that were recorded, and against the bound they foretell. */
import { readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { temporal } from '@temporalio/proto';
import { describe, expect, test } from 'vitest';
import { estimateOf, type Estimate } from '../../../language/explain/estimate.ts';
import * as measured from '../../../language/explain/measured.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { CASES } from '../../histories/cases.ts';
import { fileOf, type Recorded } from '../../histories/recorded.ts';
import { counted, create, once, shell as begun } from '../../server/harness/definitions.ts';
import { catalogue } from '../../catalogue.ts';

/** An activity of its own: nothing that is tried again begins in a segment. */
const shell: typeof begun = (command, rest) => begun(command, { retry: { attempts: 2 }, ...rest });

const { History } = temporal.api.history.v1;

/** Of a recording in one piece: what the server counts. */
function recordedCost(name: string): measured.Cost[] {
  const { histories } = JSON.parse(readFileSync(fileOf(name), 'utf8')) as Recorded;
  return histories.map((history) => {
    const decoded = historyFromJSON(history);
    return { events: decoded.events?.length ?? 0, bytes: History.encode(decoded).finish().length };
  });
}

function definitionOf(name: string): Definition {
  const found = CASES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case is called ${name}`);
  return found.definition;
}

const eventsTolerance = 0.1;
const bytesTolerance = 0.2;
const isNear = (estimated: number, real: number, tolerance: number): boolean =>
  Math.abs(estimated - real) <= real * tolerance;

describe('a recorded history is about as large as its definition foretells', () => {
  test.each(['sequence', 'loop', 'loop-of-activities', 'parallel', 'nested', 'failure'])('%s', (name) => {
    const [real = { events: 0, bytes: 0 }] = recordedCost(name);
    const { once: start, pass, passesMax } = estimateOf(definitionOf(name), catalogue);
    const estimated = {
      events: start.events + pass.most.events * (passesMax ?? 0),
      bytes: start.bytes + pass.most.bytes * (passesMax ?? 0),
    };
    const text = `estimated ${JSON.stringify(estimated)}, recorded ${JSON.stringify(real)}`;
    expect(isNear(estimated.events, real.events, eventsTolerance), text).toBe(true);
    expect(isNear(estimated.bytes, real.bytes, bytesTolerance), text).toBe(true);
  });

  test('continue-as-new, in all its histories', () => {
    const real = recordedCost('continue-as-new');
    const definition = definitionOf('continue-as-new');
    const { once: start, pass } = estimateOf(definition, catalogue);
    const text = JSON.stringify(definition).length;
    const total = real.reduce((sum, { bytes }) => sum + bytes, 0);
    const between = measured.continuation.bytes + text + measured.runStart.bytes + text;
    const estimated = start.bytes + 4 * pass.most.bytes + (real.length - 1) * between;
    expect(isNear(estimated, total, bytesTolerance), `estimated ${estimated}, recorded ${total}`).toBe(true);
  });
});

describe('how often a run continues as new', () => {
  test('about every 680 regular activities', () => {
    const { passesPerHistory, continuesAsNew } = estimateOf(counted('x', 2000, [shell('true')]), catalogue);
    expect(passesPerHistory?.most).toBeGreaterThan(660);
    expect(passesPerHistory?.most).toBeLessThan(690);
    expect(continuesAsNew).toBe(2);
  });

  test('never, where all of it is quick, and far sooner where steps carry much text', () => {
    const quick = estimateOf(counted('x', 2000, [create('a', { n: 1 }), create('b', { n: 1 })]), catalogue);
    expect(quick.pass.most.events).toBeLessThan(0.1);
    expect(quick.continuesAsNew).toBe(0);
    const wordy = estimateOf(counted('x', 2000, [shell(`echo ${'x'.repeat(30_000)}`)]), catalogue);
    expect(wordy.passesPerHistory?.most).toBeLessThan(150);
  });

  test('cannot be said where the passes are not known', () => {
    const definition: Definition = { name: 'x', loop: { type: 'continuous' }, timeoutMs: 1000, steps: [shell('true')] };
    expect(estimateOf(definition, catalogue)).toMatchObject({ passesMax: null, continuesAsNew: null });
  });
});

const passOf = (steps: Step[], rest: Partial<Definition> = {}): Estimate['pass'] =>
  estimateOf(once('x', steps, rest), catalogue).pass;
const loop = (config: Extract<Step, { type: 'loop' }>['loop']): Step => ({
  type: 'loop',
  name: 'files',
  loop: config,
  steps: [shell('true')],
});

const fan = (...branches: Step[][]): Step => ({ type: 'parallel', branches });

describe('what a pass costs', () => {
  test('a shell step that a segment may begin costs little where it ends soon, and an activity where it does not', () => {
    const [short, apart] = [begun('npm test'), shell('npm test')].map(
      (step) => estimateOf(counted('x', 10, [create('x', {}), step]), catalogue).pass,
    );
    expect(short?.least.events).toBeLessThan(apart?.least.events ?? 0);
    expect(short?.most.events).toBe(apart?.most.events);
  });

  test('the cheaper and the dearer branch', () => {
    const { least, most } = passOf([{ type: 'condition', check: '$x', then: [shell('a'), shell('b')] }]);
    expect([least.events, most.events]).toEqual([0, 12]);
  });

  test('quick steps in a row share a marker; as activities each has its own events', () => {
    const steps = [create('a', {}), create('b', {}), shell('true'), create('c', {})];
    expect(passOf(steps).most.events).toBe(1 + 6 + 1);
    expect(passOf(steps, { durability: 'step' }).most.events).toBe(4 * 6);
  });

  test('branches of quick steps share a marker, those that come to a long step have their own behind it', () => {
    const quick = [create('a', {}), create('b', {})];
    expect(passOf([fan(quick, quick, quick), create('c', {})]).most.events).toBe(1);
    expect(passOf([fan(quick, quick, quick)], { durability: 'step' }).most.events).toBe(6 * 6);
    expect(passOf([fan([...quick, shell('true'), ...quick], quick), create('c', {})]).most.events).toBe(1 + 6 + 1 + 1);
    expect(passOf([fan([shell('true'), ...quick], quick)]).most.events).toBe(6 + 1 + 1);
  });

  test('inner loops count by their passes, and say where these are not known', () => {
    expect(passOf([loop({ type: 'count', max: 5 })]).most.events).toBe(30);
    expect(passOf([loop({ type: 'until', check: '$x', maxIterations: 7 })])).toMatchObject({
      least: { events: 6 },
      most: { events: 42 },
    });
    const unknown = estimateOf(once('x', [loop({ type: 'count', max: '$files.length' })]), catalogue);
    expect(unknown.pass.most.events).toBe(6);
    expect(unknown.assumptions).toEqual(['the loop files makes 1 pass: how many it will make, only the run knows']);
  });

  test('a pause between passes is a timer', () => {
    const definition: Definition = {
      name: 'x',
      loop: { type: 'continuous', intervalMs: 1000, max: 10 },
      steps: [create('a', {})],
    };
    expect(estimateOf(definition, catalogue).pass.most.events).toBe(6);
  });
});
