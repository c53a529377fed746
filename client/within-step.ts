/** Consent, and what a name finds, are a person's: a process that a run started is refused. */
import type { Definition } from '../language/model.ts';
import type { Store, StoredDefinition } from '../prisma/store/contract/contract.ts';
import { contentHash } from '../prisma/store/values/content-hash.ts';
import { ClientError } from '../runs/client-error.ts';

export async function refuseWithinStep(message: string): Promise<void> {
  const { isWithinStep } = await import('../activities/shell/process/step-mark.ts');
  if (await isWithinStep()) throw new ClientError('ANSWER_REFUSED', message);
}

/**
 * What a process of a step starts, plans or registers is kept by its id, and it may save under a name that is free. It
 * neither saves over what a name finds, nor deletes it.
 */
export async function withNamesOfPersons(store: Store): Promise<Store> {
  const { isWithinStep } = await import('../activities/shell/process/step-mark.ts');
  return (await isWithinStep()) ? { ...store, definitions: withinStep(store.definitions) } : store;
}

function withinStep(definitions: Store['definitions']): Store['definitions'] {
  return {
    ...definitions,
    save: (definition) => definitions.keep(definition),
    async publish(definition) {
      if (isMoved(await definitions.find(definition.name), definition)) throw refusedToMove(definition.name);
      return definitions.publish(definition);
    },
    async forget(name) {
      if ((await definitions.find(name)) === null) return false;
      throw new ClientError(
        'ANSWER_REFUSED',
        `A run does not delete what is saved under "${name}": a person runs "sentinel saved delete".`,
      );
    },
  };
}

const isMoved = (found: StoredDefinition | null, definition: Definition): boolean =>
  found !== null && found.hash !== contentHash(definition);

const refusedToMove = (name: string): ClientError =>
  new ClientError(
    'ANSWER_REFUSED',
    `"${name}" is saved with other content, and a run does not save over it: a person runs "sentinel save". Inside a step, save it under another name, or run the file.`,
  );
