/**
 * Events of all runs nested in one, by what their handle adds to its own: `steps.2@1`,
 * `steps.2@1/steps.0@1`. The store knows which those are: a step may have started several
 * (language/events/nested-runs.ts). A step whose run never began stands there without events.
 */
import { withoutMark } from '../../language/events/nested-runs.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';

export interface EventSource {
  events(handle: string): Promise<RunEvent[]>;
  store(): Promise<{ runs: Pick<Store['runs'], 'nested'> }>;
}

export async function nestedEvents(
  source: EventSource,
  handle: string,
  events: readonly RunEvent[],
): Promise<Map<string, RunEvent[]>> {
  const nested = new Map<string, RunEvent[]>();
  const waiting = await childrenOf(source, handle, events);
  for (let child = waiting.shift(); child !== undefined; child = waiting.shift()) {
    const below = await source.events(child);
    nested.set(child.slice(handle.length + 1), below);
    waiting.push(...(await childrenOf(source, child, below)));
  }
  return nested;
}

async function childrenOf(source: EventSource, handle: string, events: readonly RunEvent[]): Promise<string[]> {
  const begun = new Set(
    events
      .filter((event) => event.type === 'step-started' && event.step === 'sentinel')
      .map(({ key }) => `${handle}/${key}`),
  );
  if (begun.size === 0) return [];
  const byStep = new Map<string, string[]>();
  for (const child of await (await source.store()).runs.nested(handle))
    byStep.set(withoutMark(child), [...(byStep.get(withoutMark(child)) ?? []), child]);
  return [...begun].flatMap((step) => byStep.get(step) ?? [step]);
}
