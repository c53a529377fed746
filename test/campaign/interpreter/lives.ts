/**
 * A run on a host that dies. What outlasts the host is what outlasts a worker: the history of replies, the journal of
 * what commits once, the events that were written, and what was done to the world. The next host walks the run again
 * from its start, over that history, and goes on.
 *
 * - V1 A reply that is in history is given again, at the same time. An effect whose reply is not is performed again: it
 *      may come to something else, and takes until after the death.
 * - V2 What commits once (`isOnce`) gives its first reply again, and is done once.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../../language/json.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Effect } from '../../../interpreter/effect.ts';
import type { Answers, ScriptedReply } from '../../../interpreter/simulation/script.ts';
import { STARTS_AT } from '../../../interpreter/simulation/run-scenario.ts';
import { ChaosScript } from '../../interpreter/properties/chaos-script.ts';

/** What a host has come to. `asked`: nothing is done; `done`: done and not in history; `recorded`: in history, and not told. */
export const MOMENTS = ['asked', 'done', 'recorded', 'segment-begun', 'segment-walked', 'segment-committed'] as const;
export type Moment = (typeof MOMENTS)[number];

export class Died extends Error {
  readonly moment: Moment;
  readonly of: string;

  constructor(moment: Moment, of: string) {
    super(`the host died: ${moment} ${of}`);
    this.moment = moment;
    this.of = of;
  }
}

/** A segment that was committed. */
export interface CommittedSegment {
  askedAt: number;
  tookMs: number;
  /** From then on its end is in history, which no later death moves. */
  toldAt: number;
  events: RunEvent[];
  effects: { key: string; effect: Effect }[];
  answers: [string, ScriptedReply | null][];
  emitted: { id: string; name: string; data: Json; at: number }[];
}

/** What is written with its journal row: it happens once, however often it is asked for. */
export const isOnce = (effect: Effect): boolean =>
  effect.type === 'emit' || effect.type === 'turn' || (effect.type === 'command' && effect.command.startsWith('data/'));

export const kindOf = (effect: Effect): string => (effect.type === 'command' ? effect.command : effect.type);

export class Lives {
  readonly history = new Map<string, ScriptedReply>();
  /** How often each effect was done to the world, and at how many deaths it was done and not in history. */
  readonly done = new Map<string, number>();
  readonly unrecorded = new Map<string, number>();
  readonly kinds = new Map<string, string>();
  readonly journals = new Map<string, Map<string, Json>>();
  readonly segments = new Map<string, CommittedSegment>();
  /** By handle and number. */
  readonly events = new Map<string, RunEvent>();
  readonly faults: string[] = [];
  readonly seed: number;
  /** Whether what is performed again comes to something else. */
  readonly varies: boolean;
  diedAt = Number.NEGATIVE_INFINITY;
  #once = new Map<string, ScriptedReply>();
  #asked = 0;

  constructor(seed: number, varies: boolean) {
    this.seed = seed;
    this.varies = varies;
  }

  perform(key: string, effect: Effect): ScriptedReply {
    const before = this.#once.get(key);
    this.kinds.set(key, kindOf(effect));
    if (before !== undefined) return before;
    const times = this.done.get(key) ?? 0;
    this.done.set(key, times + 1);
    const reply = this.replyFor(key, effect, times);
    if (isOnce(effect)) this.#once.set(key, reply);
    return reply;
  }

  replyFor(key: string, effect: Effect, times: number): ScriptedReply {
    const script = new ChaosScript(this.seed + (this.varies ? times * 7919 : 0), 'none');
    return script.find(key, effect) ?? { ok: true };
  }

  /** No two replies come at the same moment: which of them was told would be nobody's to say. */
  unique(): number {
    this.#asked += 1;
    return this.#asked / 4096;
  }

  keep(handle: string, event: RunEvent): void {
    const id = `${handle} ${event.seq}`;
    const before = this.events.get(id);
    if (before === undefined) this.events.set(id, event);
    else if (!isDeepStrictEqual(before, event))
      this.faults.push(`event ${id} was ${JSON.stringify(before)} and is ${JSON.stringify(event)}`);
  }
}

interface Pending {
  key: string;
  reply: ScriptedReply;
  dueAt: number;
}

/** One host: it dies at its so manieth moment, or at none. */
export class Life implements Answers {
  readonly lives: Lives;
  now = STARTS_AT;
  moments = 0;
  readonly passed: Moment[] = [];
  readonly #diesAt: number;
  readonly #script: ChaosScript;
  #pending: Pending[] = [];
  died: Died | null = null;

  constructor(lives: Lives, diesAt: number) {
    this.lives = lives;
    this.#diesAt = diesAt;
    this.#script = new ChaosScript(lives.seed, 'none');
  }

  moment(moment: Moment, of: string): void {
    if (this.died !== null) throw this.died;
    this.moments += 1;
    this.passed.push(moment);
    if (this.moments !== this.#diesAt) return;
    const { lives } = this;
    // While it walks over history, a host is at a time before the death of an earlier one.
    lives.diedAt = Math.max(lives.diedAt, this.now);
    for (const { key } of this.#pending) lives.unrecorded.set(key, (lives.unrecorded.get(key) ?? 0) + 1);
    if (moment === 'done') lives.unrecorded.set(of, (lives.unrecorded.get(of) ?? 0) + 1);
    this.died = new Died(moment, of);
    throw this.died;
  }

  /** What is due by now is in history before anybody is told. */
  clockMoved(now: number): void {
    if (this.died !== null) throw this.died;
    this.now = now;
    const due = this.#pending.filter(({ dueAt }) => dueAt <= now);
    if (due.length === 0) return;
    this.#pending = this.#pending.filter(({ dueAt }) => dueAt > now);
    for (const { key, reply } of due) this.lives.history.set(key, reply);
    this.moment('recorded', due.map(({ key }) => key).join(' '));
  }

  find(key: string, effect: Effect): ScriptedReply | null {
    if (effect.type === 'sentinel') return null;
    const { lives } = this;
    const known = lives.history.get(key);
    if (known !== undefined) return known;
    this.moment('asked', key);
    const performed = lives.perform(key, effect);
    this.moment('done', key);
    const tookMs = Math.max(0, lives.diedAt - this.now) + (performed.tookMs ?? 1) + lives.unique();
    const reply = { ...performed, tookMs };
    this.#pending.push({ key, reply, dueAt: this.now + tookMs });
    return reply;
  }

  interruptionsAt(): [] {
    return [];
  }

  nextHold(): 'resume' | 'stop' {
    return this.#script.nextHold();
  }

  answersTo(key: string): ReturnType<ChaosScript['answersTo']> {
    return this.#script.answersTo(key);
  }
}
