/** What others do in one simulated world: the events that are published, in their order, and the groups that other runs hold. */
import { eventMatcher } from '../../language/events/event-glob.ts';
import { type Json, throughJson } from '../../language/json.ts';
import type { PublishedEvent } from '../../language/events/published-event.ts';
import { isConsumed } from '../waits.ts';
import type { GroupRequest, GroupTurn, RunInput, WantedEvent } from '../host.ts';
import type { RunResult } from '../outcome.ts';
import type { Simulation } from './simulation.ts';

export class EventBoard {
  private readonly events: PublishedEvent[] = [];
  private readonly listeners: (() => void)[] = [];

  /** The position that events published from now on lie behind. */
  get head(): number {
    return this.events.length;
  }

  /** The same id again is the same event. */
  publish(id: string, name: string, data: Json, at: number): void {
    if (this.events.some((event) => event.id === id)) return;
    this.events.push({ position: this.events.length + 1, id, name, data, at });
    for (const tell of this.listeners) tell();
  }

  onPublished(tell: () => void): void {
    this.listeners.push(tell);
  }

  /** `since`: where the run began; the event before it is what started it. */
  next({ pattern, consumed, withCause, isOwn }: WantedEvent, since: number): PublishedEvent | null {
    const matches = eventMatcher(pattern);
    const isSeen = ({ position }: PublishedEvent): boolean =>
      isOwn === true || position > since || (withCause && position === since);
    return (
      this.events.find((event) => isSeen(event) && matches(event.name) && !isConsumed({ consumed }, event)) ?? null
    );
  }
}

/** As the store does with the end of any run; here only a run that nobody waits for can be waited for so. */
export function publishEnd(
  board: EventBoard,
  { handle, definition, parent }: RunInput,
  result: RunResult,
  at: number,
): void {
  const { status, outcome, limit, failure, iterations, durationMs } = result;
  const { name } = definition;
  const end = { name, parent, handle, status, outcome, limit, failure, iterations, durationMs, at };
  board.publish(`${handle}/@end`, `sentinel:${handle}:status`, throughJson(end) as unknown as Json, at);
}

/** `forMs`: so long after the run began; without it, for ever. */
export interface HeldGroup {
  by: string;
  forMs?: number;
}

/** How long a run that is cancelled takes to end. */
const endingMs = 10;

/** Groups that other runs hold, each until its time is over or it is cancelled. */
export class ScriptedGroups {
  private readonly held: Map<string, HeldGroup>;
  private readonly board: EventBoard;
  private readonly simulation: Simulation;
  private readonly cancelled = new Set<string>();

  constructor(held: { [group: string]: HeldGroup }, board: EventBoard, simulation: Simulation) {
    this.held = new Map(Object.entries(held));
    this.board = board;
    this.simulation = simulation;
    for (const [group, { forMs }] of this.held) if (forMs !== undefined) this.endIn(group, forMs, 'completed');
  }

  ask({ group, onConflict }: GroupRequest): GroupTurn {
    const by = this.held.get(group)?.by;
    if (by === undefined) return { state: 'taken' };
    switch (onConflict) {
      case 'skip':
        return { state: 'skipped', holder: by };
      case 'queue':
        return { state: 'waiting', holder: by, next: by, ahead: 1 };
      case 'cancel':
        if (!this.cancelled.has(group)) this.endIn(group, endingMs, 'cancelled');
        this.cancelled.add(group);
        return { state: 'waiting', holder: by, next: by, ahead: 1, cancels: [by] };
      default:
        return onConflict satisfies never;
    }
  }

  private endIn(group: string, ms: number, outcome: string): void {
    this.simulation.schedule(ms, () => {
      const by = this.held.get(group)?.by;
      if (by === undefined) return;
      this.held.delete(group);
      this.board.publish(`${by}/@end`, `sentinel:${by}:status`, { handle: by, outcome }, this.simulation.now);
    });
  }
}
