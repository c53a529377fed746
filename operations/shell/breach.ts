/** What a process did that ends it, and the failure of its step then. */
import type { JsonObject } from '../../language/json.ts';
import type { Confinement } from '../../language/permissions.ts';
import { Failure } from '../../world/failures/failures.ts';
import { memoryFailure } from '../../world/processes/memory.ts';

export type Breach = { type: 'memory'; usedMb: number } | { type: 'place'; path: string };

/** `command` as a message quotes it. */
export function breachFailure(
  breach: Breach,
  command: string,
  confinement: Confinement = {},
  details: JsonObject = {},
): Failure {
  if (breach.type === 'memory')
    return memoryFailure(command, { usedMb: breach.usedMb, maxMemoryMb: confinement.memoryMb ?? 0 }, details);
  return new Failure(
    'PATH_PROTECTED',
    `"${command}" made ${breach.path}, which the command line would run later, and was ended; what it made is set aside beside it. Let a person put it there, or relax "mode"`,
    { details },
  );
}
