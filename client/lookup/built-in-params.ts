/** Holds what a definition gives the built-in commands against what they take. */
import { builtInParameters } from '../../activities/commands/catalogue.ts';
import type { JsonObject } from '../../language/json.ts';
import type { ParamCheck } from '../../language/params/param-check.ts';
import type { SchemaFaults } from '../../language/params/schema-faults.ts';

/** `faultsOf`: of language/params/schema-faults.ts, which not every program loads at its start. `own`: checks commands of a project. */
export function builtInParamCheck(faultsOf: (schema: JsonObject) => SchemaFaults, own?: ParamCheck): ParamCheck {
  const schemas = builtInParameters();
  const checks = new Map<string, SchemaFaults>();
  return (command, given) => {
    const schema = Object.hasOwn(schemas, command) ? schemas[command] : undefined;
    if (schema === undefined) return own?.(command, given) ?? [];
    const check = checks.get(command) ?? faultsOf(schema);
    checks.set(command, check);
    return check(given);
  };
}
