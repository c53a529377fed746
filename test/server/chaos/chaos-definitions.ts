/**
 * Small random definitions of every kind of step whose reply can be told from what it asks, so that
 * the scripted host gives the same, and random edits of them. Every row says which step wrote it, in
 * which pass, and what was read last.
 */
import type { Json } from '../../../language/json.ts';
import type { Definition, LoopConfig, Step } from '../../../language/model.ts';
import type { ListedStep, EditRequest } from '../../../interpreter/edits.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { randomFrom } from '../harness/random.ts';

export const COLLECTION = 'chaos';
/** Its double answers by the prompt alone, whoever asks, and however often. */
export const MODEL = 'openai/chaos-model';
export const EMITTED = 'chaos:happened';

export class Chance {
  private readonly random: () => number;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  isLess(than: number): boolean {
    return this.random() < than;
  }

  upTo(count: number): number {
    return Math.floor(this.random() * count);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.upTo(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }
}

export class RandomDefinitions {
  private readonly chance: Chance;
  private made = 0;

  constructor(chance: Chance) {
    this.chance = chance;
  }

  definition(name: string): Definition {
    const { chance } = this;
    const steps = this.block(2);
    const always = chance.isLess(0.3) ? { always: [this.leaf()] } : {};
    return chance.isLess(0.3) ? counted(name, 2, steps, always) : once(name, steps, always);
  }

  /** What a persona makes of a run that stands like this; a third of the places are taken whether they can be edited or not. */
  edit(listed: readonly ListedStep[]): Pick<EditRequest, 'op' | 'path'> & { step?: Json } {
    const { chance } = this;
    const ahead = listed.filter(({ editable }) => editable !== null);
    const { path } = chance.pick(ahead.length > 0 && chance.isLess(0.7) ? ahead : listed);
    const op = chance.pick(['add', 'add', 'update', 'remove', 'skip'] as const);
    if (op === 'remove' || op === 'skip') return { op, path };
    const place =
      op === 'add' && chance.isLess(0.4) ? path.replace(/\d+$/, (index) => String(Number(index) + 1)) : path;
    return { op, path: place, step: this.step(1) as unknown as Json };
  }

  private block(depth: number): Step[] {
    return Array.from({ length: 1 + this.chance.upTo(3) }, () => this.step(depth));
  }

  private step(depth: number): Step {
    const { chance } = this;
    if (depth === 0 || chance.isLess(0.5)) return this.leaf();
    const inner = (): Step[] => this.block(depth - 1);
    return chance.pick<() => Step>([
      () => ({
        type: 'condition',
        check: this.check(),
        then: inner(),
        else: inner(),
        ...(chance.isLess(0.4) ? { always: [this.leaf()] } : {}),
      }),
      () => ({ type: 'loop', loop: this.loop(), steps: inner() }),
      () => ({ type: 'parallel', branches: [inner(), inner()] }),
      () => ({
        type: 'sentinel',
        definition: chance.isLess(0.5) ? once('child', inner()) : counted('child', 2, inner()),
        onError: 'skip',
      }),
    ])();
  }

  private check(): string {
    return this.chance.pick(['$iteration < 2', '$said.success', '$said.stdout == "even"', '!$said']);
  }

  private loop(): LoopConfig {
    return this.chance.pick<LoopConfig>([
      { type: 'count', max: 2 },
      { type: 'until', check: '$said.success', maxIterations: 2 },
      { type: 'while', check: '$iteration < 3', maxIterations: 2 },
    ]);
  }

  private leaf(): Step {
    const { chance } = this;
    this.made += 1;
    const row = this.made;
    const write = (): Step => create(COLLECTION, { row, pass: '$iteration', said: '$said.stdout' });
    return chance.pick<() => Step>([
      write,
      write,
      write,
      () => ({ type: 'emit', event: EMITTED, data: { row } }),
      () => shell(`sleep 0.${chance.upTo(3)}; printf even`, { outputTo: 'said' }),
      () => shell(`sleep 0.${chance.upTo(3)}; printf ${row}`, { outputTo: 'said' }),
      () => ({ type: 'approval', message: `Go on with ${row}?`, onError: 'skip' }),
      () => ({
        type: 'llm',
        model: MODEL,
        prompt: chance.isLess(0.5) ? `Note row ${row}` : `Speak of ${row}`,
        tools: ['data/create'],
        outputTo: 'told',
      }),
      () => ({
        type: 'command',
        command: 'code/read',
        params: { path: `missing-${row}` },
        ...chance.pick([
          { onError: 'skip' as const },
          { retry: { attempts: 2, backoffMs: 20 }, onError: 'skip' as const },
        ]),
      }),
    ])();
  }
}
