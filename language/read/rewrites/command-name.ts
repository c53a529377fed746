import { SHELL_COMMAND } from '../../catalogue.ts';

/** Commands that have another name elsewhere. */
const SPELLINGS: Readonly<Record<string, string>> = { 'shell/execute': SHELL_COMMAND };

/** The name that the format has for a command. */
export function commandNamed(name: string): string {
  return Object.hasOwn(SPELLINGS, name) ? (SPELLINGS[name] ?? name) : name;
}
