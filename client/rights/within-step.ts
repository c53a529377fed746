/** Consent, and what a name finds and an event starts, are a person's: a process that a run started is refused. */
import { isDeepStrictEqual } from 'node:util';
import type { Definition } from '../../language/model.ts';
import { refusedWithinStep } from '../../language/rights/powers.ts';
import type { Store, StoredDefinition } from '../../prisma/store/contract/contract.ts';
import type { NewTrigger, Trigger } from '../../prisma/store/contract/trigger-contract.ts';
import { NOBODYS } from '../../prisma/store/contract/sentinel-contract.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import { ClientError } from '../../runs/client-error.ts';

/** Throws `ANSWER_REFUSED` where a process of a step asks for what only a person may: `verb` is how it is called at the command line. */
export async function refuseStep(
  verb: string,
  options: { readonly [name: string]: unknown } = {},
  words: readonly string[] = [],
): Promise<void> {
  const reads = verb === 'command' && (await onlyReads(words[0] ?? ''));
  const refused = refusedWithinStep(verb, options, words, reads);
  if (refused !== null && (await isWithinStep())) throw new ClientError('ANSWER_REFUSED', refused);
}

/** A command of the engine, whatever its operation. */
async function onlyReads(name: string): Promise<boolean> {
  const [{ builtInCatalogue }, { findCommand }] = await Promise.all([
    import('../../systems/catalogue.ts'),
    import('../../language/catalogue.ts'),
  ]);
  const entry = findCommand(builtInCatalogue(), name);
  return (
    entry !== undefined && [entry.permission, ...Object.values(entry.operations ?? {})].every((one) => one === 'read')
  );
}

/** Who answers where a process of a step does, whatever it says. */
export const STEP = 'a step';

export async function isWithinStep(): Promise<boolean> {
  const mark = await import('../../world/processes/step-mark.ts');
  return mark.isWithinStep();
}

/** Who starts a run from here: a step, whatever its process says, else `said`. */
export const starterHere = async (said: 'person' | 'agent' = 'person'): Promise<'person' | 'agent' | 'step'> =>
  (await isWithinStep()) ? 'step' : said;

/**
 * What a process of a step starts, plans or registers is kept by its id, and it may save under a name that is free. It
 * neither saves over what a name finds, nor deletes it.
 */
export async function withNamesOfPersons(store: Store): Promise<Store> {
  if (!(await isWithinStep())) return store;
  return { ...store, definitions: withinStep(store.definitions), triggers: withNoneReplaced(store.triggers) };
}

function withinStep(definitions: Store['definitions']): Store['definitions'] {
  return {
    ...definitions,
    save: (definition) => definitions.keep(definition),
    async publish(definition, by = NOBODYS) {
      const found = await definitions.find(definition.name, by);
      if (isMoved(found, definition)) throw refusedToMove(definition.name);
      return found ?? definitions.publish(definition, { ...by, isPerson: false });
    },
    async forget(name, seeker, session) {
      if ((await definitions.find(name, seeker)) === null) return definitions.forget(name, seeker, session);
      throw new ClientError(
        'ANSWER_REFUSED',
        `A run does not delete what is saved under "${name}": a person runs "sentinel saved delete".`,
      );
    },
  };
}

/** Registered again as it is, a trigger stays what it is; otherwise a step would decide what a person's trigger starts. */
function withNoneReplaced(triggers: Store['triggers']): Store['triggers'] {
  return {
    ...triggers,
    async add(trigger) {
      const { name, project } = trigger;
      const before = (await triggers.list()).find((one) => one.name === name && one.project === project);
      if (before === undefined) return triggers.add(trigger);
      if (!before.isPaused && isSame(before, trigger)) return { trigger: before, isNew: false };
      throw new ClientError(
        'ANSWER_REFUSED',
        `A run does not replace the trigger of "${name}": a person runs "sentinel trigger add". Inside a step, give the definition another name.`,
      );
    },
  };
}

const isSame = (before: Trigger, trigger: NewTrigger): boolean =>
  Object.entries(trigger).every(([field, value]) =>
    isDeepStrictEqual(before[field as keyof NewTrigger] ?? null, value ?? null),
  );

const isMoved = (found: StoredDefinition | null, definition: Definition): boolean =>
  found !== null && found.hash !== contentHash(definition);

const refusedToMove = (name: string): ClientError =>
  new ClientError(
    'ANSWER_REFUSED',
    `"${name}" is saved with other content, and a run does not save over it: a person runs "sentinel save". Inside a step, save it under another name, or run the file.`,
  );
