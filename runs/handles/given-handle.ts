/**
 * Handles that a person or a program gives. What begins with another sign names no run in events (`@emit` is a person),
 * and what has a slash names a run that a step started. Handles that the engine gives are worked out from what starts the
 * run: whoever could give one would stand in the place of that run.
 */
import { reservedHandleFault, type EventFault } from '../../language/events/reserved-events.ts';

/** What a step starts (`startedHandle`), an event (`startHandle`) or a trigger that is immediate; a schedule at a time; a case of an evaluation. */
const ENGINES = /-[0-9a-f]{16}$|-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$|^eval-.+-m\d+-i\d+-r\d+$/;

/** Why no run or schedule may be given this handle; null where one may. */
export function givenHandleFault(handle: string): { code: 'USAGE' | EventFault['code']; message: string } | null {
  if (ENGINES.test(handle))
    return {
      code: 'USAGE',
      message: `"${handle}" is a handle as the engine gives one to a run that a step, a trigger, a schedule or an evaluation starts; choose another`,
    };
  if (/^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/.test(handle)) return reservedHandleFault(handle);
  const message = `"${handle}" cannot be a handle; use up to 200 letters, digits, and . _ : - beginning with a letter or digit`;
  return { code: 'USAGE', message };
}
