/**
 * Names in other spellings: those of variables as they are read (`$build`, `{{build}}`, `{{env.HOME}}`) where they are
 * given, without the signs; and those of commands.
 */
import { isSafeName } from '../../expression/scope.ts';
import { pathOf, rename, within, type Draft } from '../draft/draft.ts';
import { SHELL_COMMAND } from '../../catalogue.ts';

const AS_READ = /^(?:\$?\{\{\s*\$?(\w+)\s*\}\}|\$\{\s*(\w+)\s*\}|\$(\w+))$/;
const OF_ENVIRONMENT = /^(?:\{\{\s*env\.(\w+)\s*\}\}|\$\{(\w+)\}|\$(\w+))$/;

export function rewriteVariable(draft: Draft, key: string): void {
  const name = nameIn(draft.value[key], AS_READ);
  if (name === undefined) return;
  draft.value[key] = name;
  inferName(draft, key, name);
}

/** The keys of an object are names. */
export function rewriteNames(draft: Draft, of: 'inputs' | 'values'): void {
  within(draft, of, (inputs) => {
    for (const key of Object.keys(inputs.value)) {
      const name = nameIn(key, AS_READ);
      if (name === undefined) continue;
      if (!Object.hasOwn(inputs.value, name)) inferName(inputs, key, name);
      rename(inputs, key, name);
    }
  });
}

export function rewriteEnvironment({ value }: Draft): void {
  const { env } = value;
  if (Array.isArray(env)) value['env'] = env.map((written: unknown) => nameIn(written, OF_ENVIRONMENT) ?? written);
}

function nameIn(written: unknown, pattern: RegExp): string | undefined {
  if (typeof written !== 'string') return undefined;
  const name = pattern
    .exec(written.trim())
    ?.slice(1)
    .find((found) => found !== undefined);
  return name === undefined || /^\d/.test(name) || !isSafeName(name) ? undefined : name;
}

function inferName(draft: Draft, key: string, name: string): void {
  draft.origins.inferred.push(`${pathOf(draft, key)} sets "${name}", without the signs a variable is read with`);
}

/** Commands that have another name elsewhere. */
const SPELLINGS: Readonly<Record<string, string>> = { 'shell/execute': SHELL_COMMAND };

/** The name that the format has for a command. */
export function commandNamed(name: string): string {
  return Object.hasOwn(SPELLINGS, name) ? (SPELLINGS[name] ?? name) : name;
}
