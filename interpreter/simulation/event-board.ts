/** Published events of one simulated world, in the order of their publishing. */
import { eventMatcher } from '../../language/events/event-glob.ts';
import type { Json } from '../../language/json.ts';
import type { PublishedEvent } from '../../language/events/published-event.ts';
import { isConsumed } from '../waits.ts';
import type { WantedEvent } from '../host.ts';

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
