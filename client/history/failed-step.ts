/** The step at which a run failed: where a retry begins. */
import type { RunEvent, StepFinished } from '../../language/events/run-event.ts';
import { isWithin } from '../show/step-keys.ts';

/**
 * The innermost step whose failure ended the run, as its first attempt. Where branches failed together, the one that
 * began first: the others stand before their failures there. Of a run that was lost, the first step under way.
 * Null where no step failed.
 */
export function failedStep(events: readonly RunEvent[]): string | null {
  const finished = events.filter(
    (event): event is StepFinished => event.type === 'step-finished' && !isCleanUp(event.key),
  );
  // A step around it that ended otherwise later, skipped or tried again, has dealt with the failure. One that ended
  // before it has not: a condition ends with its choice.
  const isDealtWith = (key: string, index: number): boolean =>
    finished.slice(index + 1).some((later) => later.outcome !== 'failed' && isWithin(key, later.key));
  const outermost = finished.findLast(({ key, outcome }, index) => outcome === 'failed' && !isDealtWith(key, index));
  if (outermost === undefined) return earliest(events, underWay(events));
  const counted = finished.flatMap(({ key, outcome }, index) =>
    outcome === 'failed' && isWithin(key, outermost.key) && !isDealtWith(key, index) ? [key] : [],
  );
  const innermost = counted.filter((key) => !counted.some((other) => other !== key && isWithin(other, key)));
  return earliest(events, innermost);
}

/** The first attempt has the key without a mark. */
function earliest(events: readonly RunEvent[], keys: readonly string[]): string | null {
  const begun = events.find((event) => event.type === 'step-started' && keys.includes(event.key))?.key ?? keys[0];
  return begun?.replace(/#\d+(?=@[^@]*$)/, '') ?? null;
}

function underWay(events: readonly RunEvent[]): string[] {
  const ended = new Set(events.filter(({ type }) => type === 'step-finished').map(({ key }) => key));
  const open = events.filter(({ type, key }) => type === 'step-started' && !ended.has(key) && !isCleanUp(key));
  const keys = open.map(({ key }) => key);
  return keys.filter((key) => !keys.some((other) => other !== key && isWithin(other, key)));
}

const isCleanUp = (key: string): boolean => key.startsWith('always.');
