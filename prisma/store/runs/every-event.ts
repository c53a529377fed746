/** The stored events of one run, from its first; read a page at a time. */
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Store } from '../contract/contract.ts';

export async function* everyEvent({ events }: Pick<Store, 'events'>, handle: string): AsyncGenerator<RunEvent, void> {
  for (let seq = -1; ;) {
    const page = await events.after(handle, seq);
    if (page.length === 0) return;
    yield* page;
    seq = page.at(-1)?.seq ?? seq;
  }
}
