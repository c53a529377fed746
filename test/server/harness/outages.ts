/** Services that a test takes away from under runs, which go on with the result of an undisturbed run. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { counted, create, shell } from './definitions.ts';
import { Harness, steady, until } from './harness.ts';
import { startServices, type Services } from './services.ts';
import { shapeOf } from './trace-shape.ts';

const passes = 10;
const definition = counted('through-outages', passes, [
  create('kept', { pass: '$iteration' }, 'row'),
  {
    type: 'condition',
    check: '$iteration % 2 === 0',
    then: [{ type: 'emit', event: 'even', data: '$iteration' }],
    else: [create('odd', { pass: '$iteration' })],
  },
  shell('echo $iteration >> effects; sleep 0.4; echo $iteration', { outputTo: 'said' }),
  {
    type: 'parallel',
    branches: [
      [shell('echo left', { outputTo: 'left' })],
      [
        create('right', { pass: '$iteration' }),
        { type: 'command', command: 'data/read', params: { collection: 'right' }, outputTo: 'right' },
      ],
    ],
  },
]);

export interface Outcome {
  outputs: unknown;
  shape: string[];
}

/** Services of its own, with one worker. */
export class Outages {
  readonly services: Services;
  readonly harness: Harness;

  private constructor(services: Services, harness: Harness) {
    this.services = services;
    this.harness = harness;
  }

  static async open(): Promise<Outages> {
    const services = await startServices();
    const harness = await Harness.open(services);
    await harness.startWorker();
    return new Outages(services, harness);
  }

  async close(): Promise<void> {
    await this.harness.close();
    await this.services.stop();
  }

  async undisturbed(): Promise<Outcome> {
    const { result, events } = await this.harness.run(definition);
    return { outputs: steady(result.outputs), shape: shapeOf(events) };
  }

  /** Takes something away in the middle of a run, which ends as expected all the same. */
  async disturb(expected: Outcome, take: () => Promise<void>): Promise<void> {
    const { harness } = this;
    const rowsBefore = await harness.rows('kept');
    const effectsBefore = this.effects();
    const handle = await harness.start(definition);
    await until(() => this.effects() >= effectsBefore + 3);
    await take();
    const result = await harness.result(handle);
    expect(steady(result.outputs)).toEqual(expected.outputs);
    expect(result).toMatchObject({ outcome: 'completed', iterations: passes });
    expect(shapeOf(await harness.events(handle))).toEqual(expected.shape);
    const rows = (await harness.rows('kept')).slice(rowsBefore.length).map((row) => row['pass']);
    expect(rows).toEqual(Array.from({ length: passes }, (_, i) => i + 1));
    expect(this.effects() - effectsBefore).toBeGreaterThanOrEqual(passes);
    expect(await harness.store.runs.find(handle)).toMatchObject({
      status: 'completed',
      outcome: 'completed',
      iterations: passes,
    });
  }

  private effects(): number {
    const path = join(this.harness.project, 'effects');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0;
  }
}

/** Opens services that are stopped with the test file. */
export function useOutages(): () => Promise<Outages> {
  const open: Outages[] = [];
  afterAll(async () => {
    await Promise.all(open.map((outages) => outages.close()));
  });
  return async () => {
    const outages = await Outages.open();
    open.push(outages);
    return outages;
  };
}
