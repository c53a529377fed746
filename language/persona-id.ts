/** The id of a persona: who owns runs, remembers, and is asked. */

/** `NAME-genome` names what a persona has learnt (models/model-string.ts). */
const ID = /^(?!.*-genome$)[A-Za-z0-9._-]{1,100}$/;

export const personaRule = '1 to 100 letters, digits, ".", "_" and "-", and not "-genome" at the end';

export const isPersonaId = (text: string): boolean => ID.test(text);

/** What cannot be the id of a persona: one sentence, finding and remedy. */
export const personaFault = (id: string): { code: 'USAGE'; message: string } | null =>
  isPersonaId(id)
    ? null
    : { code: 'USAGE', message: `"${id}" is no id of a persona; an id has ${personaRule}: choose such a one` };

/** The id of whoever has the name, in which other characters are dashes; null where nothing is left. */
export function personaIdFor(name: string): string | null {
  const id = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 100);
  return /[A-Za-z0-9]/.test(id) && isPersonaId(id) ? id : null;
}
