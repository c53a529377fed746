/** The real segment, on a host that may die before it, before its commit, and after it. */
import type { SegmentResult } from '../../../interpreter/contract.ts';
import type { SegmentReport } from '../../../interpreter/host.ts';
import type { SegmentAsked } from '../../../interpreter/simulation/scripted-host.ts';
import { EventBoard } from '../../../interpreter/simulation/event-board.ts';
import { runSegment } from '../../../activities/segment/run-segment.ts';
import { type Json, throughJson } from '../../../language/json.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { attemptOf, journalIn, requestOf } from '../../interpreter/harness/segment-parts.ts';
import { type CommittedSegment, kindOf, type Life } from './lives.ts';

export const dyingSegment =
  (life: Life, setClock: (now: number) => void) =>
  (asked: SegmentAsked): Promise<SegmentReport> => {
    const { strand, scope, world } = asked;
    const request = requestOf(asked);
    return new Promise((resolve, reject) => {
      let begun = false;
      scope.onCancel(() => {
        if (!begun) resolve({ flow: { kind: 'cancelled' }, frame: strand.frame, set: {}, tally: null, steps: 0 });
      });
      world.simulation.schedule(0, async () => {
        if (scope.cancelled) return;
        begun = true;
        try {
          const { result, tookMs } = await new Segment(life, asked, setClock).run(request);
          world.simulation.schedule(tookMs, () => resolve(result));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
  };

class Segment {
  readonly #life: Life;
  readonly #asked: SegmentAsked;
  readonly #setClock: (now: number) => void;

  constructor(life: Life, asked: SegmentAsked, setClock: (now: number) => void) {
    this.#life = life;
    this.#asked = asked;
    this.#setClock = setClock;
  }

  async run(request: ReturnType<typeof requestOf>): Promise<{ result: SegmentResult; tookMs: number }> {
    const { host, world } = this.#asked;
    const { lives } = this.#life;
    const { handle } = host.walk.input;
    const id = `${handle} ${request.key}`;
    this.#life.moment('segment-begun', id);
    const rows = lives.journals.get(handle) ?? new Map<string, Json>();
    lives.journals.set(handle, rows);
    const before = lives.segments.get(id);
    const board = new EventBoard();
    const attempt = attemptOf(
      { ...this.#asked, world: { ...world, board } },
      (key, effect) => {
        if (effect.type === 'sentinel') return null;
        lives.kinds.set(key, kindOf(effect));
        return lives.replyFor(key, effect, before === undefined && lives.diedAt < world.simulation.now ? 0 : 1);
      },
      this.#setClock,
    );
    const events: RunEvent[] = [];
    const around = {
      before: () => this.#life.moment('segment-walked', id),
      after: () => {
        const tookMs = attempt.clock - world.simulation.now + lives.unique();
        lives.segments.set(id, committedOf(attempt, events, world.simulation.now, tookMs));
        for (const event of events) lives.keep(handle, event);
        for (const { key } of attempt.effects) lives.done.set(key, (lives.done.get(key) ?? 0) + 1);
        this.#life.moment('segment-committed', id);
      },
    };
    const store = journalIn(rows, events, around);
    const input = throughJson(host.walk.input);
    const result = throughJson(
      await runSegment(
        { store, quick: attempt.quick, recorded: () => Promise.resolve() },
        input,
        throughJson(request),
        { attempt: before === undefined ? 1 : 2 },
      ),
    );
    this.#setClock(world.simulation.now);
    const committed = lives.segments.get(id);
    if (committed === undefined) return { result, tookMs: attempt.clock - world.simulation.now };
    world.effects.push(...committed.effects);
    host.events.push(...committed.events);
    for (const { id: event, name, data, at } of committed.emitted) world.board.publish(event, name, data, at);
    return { result, tookMs: this.#dueIn(committed) };
  }

  /** What was not told before the latest death is told after it. */
  #dueIn(committed: CommittedSegment): number {
    const { diedAt } = this.#life.lives;
    const { askedAt, tookMs, toldAt } = committed;
    if (toldAt > diedAt) committed.toldAt = Math.max(diedAt, askedAt) + tookMs;
    return committed.toldAt - askedAt;
  }
}

function committedOf(
  { effects, answers }: ReturnType<typeof attemptOf>,
  events: RunEvent[],
  askedAt: number,
  tookMs: number,
): CommittedSegment {
  const replies = new Map(answers);
  const emitted = effects.flatMap(({ key, effect }) =>
    effect.type === 'emit' && replies.get(key)?.ok !== false
      ? [{ id: key, name: effect.event, data: effect.data, at: askedAt }]
      : [],
  );
  return { askedAt, tookMs, toldAt: askedAt + tookMs, events, effects: [...effects], answers: [...answers], emitted };
}
