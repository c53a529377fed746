/**
 * Handles of runs: those that a person or a program gives, and those that are drawn. What begins with another sign names no run in events (`@emit` is a person),
 * and what has a slash names a run that a step started. Handles that the engine gives are worked out from what starts the
 * run: a step that could give one would stand in the place of that run.
 */
import { randomInt } from 'node:crypto';
import { isBackgroundRun } from '../operations/caller.ts';
import { reservedHandleFault, type EventFault } from '../language/events/reserved-events.ts';

/** What a step starts (`startedHandle`), an event (`startHandle`) or a trigger that is immediate, and a schedule at a time. */
const ENGINES = /-[0-9a-f]{16}$|-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/** Before what an agent calls its run: no handle that is drawn or that a person gives begins so. */
export const AGENTS = 'agent:';

export type HandleGiver = 'person' | 'step' | 'agent';

/** Why no run or schedule may be given this handle; null where one may. A person's ids of builds and spans may look like those of the engine. */
export function givenHandleFault(
  handle: string,
  by: HandleGiver = 'person',
): { code: 'USAGE' | EventFault['code']; message: string } | null {
  if (by === 'step' && ENGINES.test(handle))
    return {
      code: 'USAGE',
      message: `"${handle}" is a handle as the engine gives one to a run that a step, a trigger or a schedule starts; choose another`,
    };
  if (isBackgroundRun(handle))
    return {
      code: 'USAGE',
      message: `"${handle}" is a handle as the engine gives one to what a system does in the background; choose another`,
    };
  if (by !== 'agent' && handle.startsWith(AGENTS))
    return { code: 'USAGE', message: `"${handle}" is a handle as agents give them over MCP; choose another` };
  if (/^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/.test(handle)) return reservedHandleFault(handle);
  const message = `"${handle}" cannot be a handle; use up to 200 letters, digits, and . _ : - beginning with a letter or digit`;
  return { code: 'USAGE', message };
}

/** Without those that are taken for others: 0 and o, 1, i and l. */
const SIGNS = '23456789abcdefghjkmnpqrstuvwxyz';
const SIGNS_COUNT = 8;
const SLUG_MAX = 40;

/** Of a run that is given none: what runs, as a person reads it, and signs that no other run has. `Verify project!` makes `verify-project-7f3k2q9d`. */
export function newHandle(name: string): string {
  const signs = Array.from({ length: SIGNS_COUNT }, () => SIGNS[randomInt(SIGNS.length)]);
  return `${slugOf(name)}-${signs.join('')}`;
}

/** Letters lose their marks; a name without any letter or digit of ASCII says nothing here. */
function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).join('-').slice(0, SLUG_MAX).replace(/-$/, '') || 'run';
}
