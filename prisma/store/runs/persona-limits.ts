/** Limits of personas, which a person sets by commands of the system `persona`. */
import type { PersonaLimits, PersonaLimitStore } from '../contract/persona-contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

export function personaLimits(database: Database): PersonaLimitStore {
  return {
    async of(persona) {
      const [row] = await database.query<PersonaLimits>(
        'select places from limits_of_personas where persona = $1 for share',
        [withoutNul(persona)],
      );
      return row ?? null;
    },
  };
}
