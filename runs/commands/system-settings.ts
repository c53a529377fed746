/** `settings` of a `sentinel.config`: what the systems that come with the engine are to do otherwise. */
import type { JsonObject } from '../../language/json.ts';
import { schemaFaults } from '../../language/params/schema-faults.ts';
import type { ParamFault } from '../../language/params/param-check.ts';
import { spelledNearly } from '../../language/read/remedies/meant-word.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import type { BuiltIn } from './built-in.ts';

/** Each as place, finding and remedy. */
export function settingsFaults(
  { settings: known }: Pick<BuiltIn, 'settings'>,
  { settings, systems }: Pick<ProjectConfig, 'settings' | 'systems'>,
): string[] {
  return Object.entries(settings).flatMap(([system, given]) => {
    const at = `settings.${system}`;
    if (!Object.hasOwn(known, system)) {
      if (systems.some(({ name }) => name === system))
        return [`${at}: "${system}" is a system of the project; write its settings beside it in "systems"`];
      return [`${at}: no system "${system}" comes with Sentinel${nearest(system, Object.keys(known))}`];
    }
    const schema = known[system] ?? null;
    if (schema === null) {
      const withSettings = Object.keys(known).filter((name) => known[name] !== null);
      return [`${at}: the system "${system}" has no settings; these have: ${withSettings.join(', ')}`];
    }
    return schemaFaults(schema)(given as JsonObject).map(
      (fault) => `${[at, ...fault.path].join('.')}: ${wordsOf(fault)}`,
    );
  });
}

function wordsOf({ code, path, message, taken = [] }: ParamFault): string {
  if (code !== 'UNKNOWN_KEY') return message;
  return `there is no such setting${nearest(path.at(-1) ?? '', taken)}`;
}

function nearest(written: string, legal: readonly string[]): string {
  const near = spelledNearly(written, legal);
  return near === undefined ? `; there are ${legal.join(', ')}` : `; did you mean "${near}"?`;
}
