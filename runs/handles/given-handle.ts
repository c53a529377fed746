/**
 * Handles that a person or a program gives. What begins with another sign names no run in events (`@emit` is a person),
 * and what has a slash names a run that a step started.
 */
import { reservedHandleFault, type EventFault } from '../../language/events/reserved-events.ts';

/** Why no run or schedule may be given this handle; null where one may. */
export function givenHandleFault(handle: string): { code: 'USAGE' | EventFault['code']; message: string } | null {
  if (/^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/.test(handle)) return reservedHandleFault(handle);
  const message = `"${handle}" cannot be a handle; use up to 200 letters, digits, and . _ : - beginning with a letter or digit`;
  return { code: 'USAGE', message };
}
