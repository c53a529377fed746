/** The id of a persona: who owns runs, remembers, and is asked. */

/** `NAME-genome` names what a persona has learnt (models/model-string.ts). */
const ID = /^(?!.*-genome$)[A-Za-z0-9._-]{1,100}$/;

export const personaRule = '1 to 100 letters, digits, ".", "_" and "-", and not "-genome" at the end';

export const isPersonaId = (text: string): boolean => ID.test(text);
