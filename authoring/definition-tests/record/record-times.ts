/**
 * How long everything took in a run, for its test. Where time decided how far a run came, a test has to
 * take it too, and what lies between two steps is in no event. So the run is simulated with replies and
 * answers that come when they came, counted from its beginning: what each of them took then is what the test says.
 */
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Effect } from '../../../interpreter/effect.ts';
import type { HeldGroup } from '../../../interpreter/simulation/event-board.ts';
import { STARTS_AT } from '../../../interpreter/simulation/run-scenario.ts';
import type {
  Answers,
  Interruption,
  Script,
  ScriptedAnswer,
  ScriptedReply,
} from '../../../interpreter/simulation/script.ts';

/** Milliseconds since the run began, by the keys of steps and questions; of a step, one for each time that it ended. */
export interface Moments {
  readonly ends: ReadonlyMap<string, readonly number[]>;
  readonly answers: ReadonlyMap<string, number>;
}

export class AsItCame implements Answers {
  /** Milliseconds each reply took, by the key of its step. */
  readonly took = new Map<string, number[]>();
  /** Milliseconds after its question, by the question's key. */
  readonly answered = new Map<string, number>();
  private readonly script: Script;
  private readonly moments: Moments;
  private now = 0;

  constructor(script: Script, moments: Moments) {
    this.script = script;
    this.moments = moments;
  }

  clockMoved(now: number): void {
    this.now = now - STARTS_AT;
  }

  find(key: string, effect: Effect): ScriptedReply | null {
    const reply = this.script.find(key, effect);
    const took = this.took.get(key) ?? [];
    const end = this.moments.ends.get(key)?.[took.length];
    if (reply === null || end === undefined) return reply;
    const tookMs = Math.max(0, end - this.now);
    this.took.set(key, [...took, tookMs]);
    return { ...reply, tookMs };
  }

  answersTo(key: string): ScriptedAnswer[] {
    const at = this.moments.answers.get(key);
    const answers = this.script.answersTo(key);
    if (at === undefined) return answers;
    const afterMs = Math.max(0, at - this.now);
    this.answered.set(key, afterMs);
    return answers.map((answer) => ({ ...answer, afterMs }));
  }

  interruptionsAt(key: string, when: 'before' | 'during'): Interruption[] {
    return this.script.interruptionsAt(key, when);
  }

  nextHold(): 'resume' | 'stop' | 'cancel' {
    return this.script.nextHold();
  }
}

/** Who had the group of the run when it asked, and for how long. */
export function groupsIn(events: readonly RunEvent[]): { [group: string]: HeldGroup } {
  const told = events.filter((event) => event.type === 'group').filter(({ of }) => of === undefined);
  const first = told[0];
  if (first?.holder === undefined) return {};
  const taken = told.find(({ state }) => state === 'taken');
  const began = events[0]?.at ?? first.at;
  const isCancelled = first.cancels !== undefined;
  const held = taken === undefined || isCancelled ? {} : { forMs: Math.max(1, taken.at - began) };
  return { [first.group]: { by: first.holder, ...held } };
}
