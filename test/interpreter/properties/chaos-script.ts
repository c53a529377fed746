/**
 * What the world answers a random run, and who interrupts it where. Replies depend on the step's key
 * alone, so two runs of one seed get the same; interruptions depend on the seed and on how often a
 * place was passed.
 */
import type { Choice } from '../../../language/events/question.ts';
import type { Effect } from '../../../interpreter/effect.ts';
import type { Answers, Interruption, ScriptedAnswer, ScriptedReply } from '../../../interpreter/simulation/script.ts';
import type { Mode } from '../../../interpreter/simulation/world.ts';
import { answerFor, hashOf } from './random-definitions.ts';

/** none: nobody interrupts. held: nothing that changes what the run does. any: also stops, cancellations and edits. */
export type Chaos = 'none' | 'held' | 'any';

const interruptionsMax = 60;
const holdsMax = 4;

export class ChaosScript implements Answers {
  /** Effects that were asked for, in order. */
  readonly asked: string[] = [];
  private readonly seed: number;
  private readonly chaos: Chaos;
  private readonly reply: (key: string) => ScriptedReply;
  private readonly passed = new Map<string, number>();
  private made = 0;
  private holds = 0;
  private ended = false;

  constructor(seed: number, chaos: Chaos) {
    this.seed = seed;
    this.chaos = chaos;
    this.reply = answerFor(seed);
  }

  find(key: string, effect: Effect): ScriptedReply | null {
    this.asked.push(key);
    if (effect.type === 'sentinel') return null;
    const reply = this.reply(key);
    // Here somebody answers what a provider refuses until then.
    return reply.failure?.code === 'MODEL_REQUEST_REFUSED'
      ? { ...reply, failure: { code: 'MODEL_SPEND_LIMIT' } }
      : reply;
  }

  interruptionsAt(key: string, when: 'before' | 'during'): Interruption[] {
    if (this.chaos === 'none' || this.made >= interruptionsMax) return [];
    const place = `${key} ${when}`;
    const turn = (this.passed.get(place) ?? 0) + 1;
    this.passed.set(place, turn);
    const number = this.mixed(`${place} ${turn}`);
    if (number % 3 !== 0) return [];
    this.made += 1;
    return this.interruptionOf(key, when, number >>> 4);
  }

  private interruptionOf(at: string, when: 'before' | 'during', number: number): Interruption[] {
    const pause: Interruption = { at, when, do: 'pause', forMs: 1 + ((number >>> 8) % 40) };
    if (number % 4 === 0) return this.choiceAt(at) === 'approve' ? [{ at, when, do: 'answer' }] : [];
    if (this.chaos !== 'any' || number % 4 === 1) return [pause];
    if (number % 4 === 2) return [{ at, when, do: 'edit', edit: this.editOf(number >>> 8) }];
    // One end for each tree of runs, so that the others go on to theirs.
    if (this.ended || (number >>> 8) % 5 !== 0) return [pause, { ...pause, forMs: 1 + ((number >>> 12) % 5) }];
    this.ended = true;
    return [{ at, when, do: (number >>> 12) % 2 === 0 ? 'stop' : 'cancel' }];
  }

  private editOf(number: number): NonNullable<Interruption['edit']> {
    const paths = [
      'steps.0',
      'steps.1',
      'steps.2',
      'steps.0.then.0',
      'steps.1.steps.0',
      'steps.1.branches.0.0',
      'always.0',
    ];
    const path = paths[number % paths.length] ?? 'steps.0';
    const step = { type: 'command', command: 'data/list', params: { edited: number % 100 }, outputTo: 'b' };
    const op = (['add', 'update', 'remove', 'skip'] as const)[(number >>> 4) % 4] ?? 'add';
    return op === 'add' || op === 'update' ? { op, path, step } : { op, path };
  }

  /** Somebody who grants a limit once more does not do so for ever. */
  nextHold(): 'resume' | 'stop' {
    this.holds += 1;
    return this.holds > holdsMax ? 'stop' : 'resume';
  }

  answersTo(key: string): ScriptedAnswer[] {
    const number = this.mixed(key);
    // Where nobody answers at a limit, the run is resumed or stopped there.
    if (/(?:^|\/)limit\./.test(key)) return number % 4 === 0 ? [{ choice: 'extend', afterMs: 1 + (number % 50) }] : [];
    const first: ScriptedAnswer = { choice: this.choiceAt(key), afterMs: 1 + (number % 50) };
    // Whoever comes later is told the first answer.
    const again: ScriptedAnswer[] = number % 3 === 0 ? [{ choice: 'abort', by: 'another', afterMs: 51 }] : [];
    // What was chosen first may be no choice of the question.
    return [first, ...again, { choice: key.endsWith(':failed') ? 'skip' : 'approve', afterMs: 60 }];
  }

  private choiceAt(key: string): Choice {
    const number = this.mixed(`choice ${key}`) % 20;
    // An abort ends the other branches where they happen to be.
    const aborts = this.chaos === 'any' && number === 19;
    if (key.endsWith(':failed')) return aborts ? 'abort' : number < 8 ? 'retry' : 'skip';
    return aborts ? 'abort' : number < 16 ? 'approve' : 'reject';
  }

  /** Neighbouring keys give numbers far apart. */
  private mixed(text: string): number {
    let number = hashOf(this.seed, text);
    number = Math.imul(number ^ (number >>> 15), 0x2c1b3c6d);
    number = Math.imul(number ^ (number >>> 12), 0x297a2d39);
    return (number ^ (number >>> 15)) >>> 0;
  }
}

/** A way of running that continues as new, from the position alone, after steps that nobody foresees. */
export function chaosMode(seed: number): Mode {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
  const mode = {
    name: `seed ${seed}`,
    segments: next() % 2 === 0,
    yieldAsking: next() % 2 === 0,
    pureStepsMax: 2 + (next() % 12),
  };
  if (next() % 5 === 0) return mode;
  return {
    ...mode,
    get yieldEvery() {
      return 1 + (next() % 5);
    },
  };
}
