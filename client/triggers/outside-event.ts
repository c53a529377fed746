/** An event that somebody publishes from outside of runs, and what it may not be. */
import { randomUUID } from 'node:crypto';
import { eventDataFault, eventNameBytesMax } from '../../language/events/published-event.ts';
import { reservedEventFault } from '../../language/events/reserved-events.ts';
import type { Json } from '../../language/json.ts';
import type { OutsideEvent } from '../../prisma/store/contract/trigger-contract.ts';
import { ClientError, refuseFault } from '../../runs/client-error.ts';

const ID_BYTES_MAX = 200;
/** As of a webhook's body. */
export const DATA_BYTES_MAX = 256 * 1024;

export interface EmitOptions {
  data?: Json;
  /** The same name and id again is the same event; a new one where it is left out. */
  id?: string;
  /** Only triggers and runs of this project see it; all do where it is left out. */
  project?: string;
}

export interface Emitted {
  name: string;
  id: string;
  seq: number;
  /** False when it had been published before. */
  isNew: boolean;
}

/** `isWithinStep`: a process of a step publishes it, which is no person; hooks of a repository run in steps, too. */
export function outsideEvent(
  name: string,
  { data = null, id = randomUUID(), project }: EmitOptions,
  isWithinStep: boolean,
): OutsideEvent {
  if (name.trim() === '' || Buffer.byteLength(name) > eventNameBytesMax)
    throw new ClientError('USAGE', `an event's name has 1 to ${eventNameBytesMax} bytes.`);
  if (name.includes('*'))
    throw new ClientError('USAGE', `"${name}" is a pattern; publish an event by its own name, without "*".`);
  const isOfRepository = reservedEventFault(name) !== null && name.startsWith('git:');
  refuseFault(reservedEventFault(name, name, isWithinStep && !isOfRepository ? 'other' : 'person'));
  if (id.trim() === '' || Buffer.byteLength(id) > ID_BYTES_MAX)
    throw new ClientError('USAGE', `--id has 1 to ${ID_BYTES_MAX} bytes.`);
  refuseFault(eventDataFault(data, `the data of "${name}"`, DATA_BYTES_MAX));
  return { source: isWithinStep ? '@step' : '@emit', id, name, data, project: project ?? null };
}
