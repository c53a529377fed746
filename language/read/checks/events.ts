/** Names of events: what is emitted has a plain name, what is watched may be a pattern; and paths that they bring. */
import { reservedEventFault } from '../../events/reserved-events.ts';
import { checkEventPaths } from './event-paths.ts';
import type { Problem } from '../../problems.ts';
import type { Origins } from '../draft/draft.ts';
import type { Sites } from '../inventory/sites.ts';
import { defined } from '../../defined.ts';

export function checkEvents(sites: Sites, origins: Origins): Problem[] {
  return [
    ...checkEventPaths(sites, origins),
    ...sites.loops.flatMap(({ loop, path }) =>
      loop.type === 'event' ? isBadEvent(loop.event, origins.locate(loop, path, ['event']), 'watched') : [],
    ),
    ...sites.steps.flatMap(({ step, path }) => {
      if ((step.type !== 'emit' && step.type !== 'watch') || step.event === undefined) return [];
      return isBadEvent(
        step.event,
        origins.locate(step, path, ['event']),
        step.type === 'emit' ? 'emitted' : 'watched',
      );
    }),
  ];
}

export function isBadEvent(event: string, path: string, how: 'emitted' | 'watched'): Problem[] {
  const bad = (message: string, fix?: string): Problem[] => [
    { code: 'BAD_EVENT', severity: 'error', path, message, ...defined({ fix }) },
  ];
  const plain = event.replaceAll(/\{\{[^{}\n]*\}\}/g, 'x');
  const closed = event.replaceAll(/\s+/g, '-');
  if (/\s/.test(plain.trim()))
    return bad(`"${event}" has a space in it, and no event is named so; write "${closed}"`, `write "${closed}"`);
  if (plain !== plain.trim())
    return bad(`"${event}" has a space around it; write "${event.trim()}"`, `write "${event.trim()}"`);
  if (how === 'emitted' && plain.includes('*'))
    return bad(`"${event}" is a pattern, and an event that is emitted has one name; patterns are for those who watch`);
  const fault = how === 'emitted' ? reservedEventFault(plain, event) : null;
  if (fault !== null) return [{ code: fault.code, severity: 'error', path, message: fault.message }];
  return [];
}
