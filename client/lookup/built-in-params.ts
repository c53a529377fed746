/** Holds what a definition gives the built-in commands against what they take, and what it reads of them against what they give. */
import { builtInParameters, builtInResults } from '../../systems/catalogue.ts';
import type { JsonObject } from '../../language/json.ts';
import type { ParamCheck } from '../../language/params/param-check.ts';
import type { SchemaFaults } from '../../language/params/schema-faults.ts';
import type { ResultSchemas } from '../../language/read/shapes/of-steps.ts';

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

export function builtInResultSchemas(own?: ResultSchemas): ResultSchemas {
  const schemas = builtInResults();
  return (command) => (Object.hasOwn(schemas, command) ? schemas[command] : own?.(command));
}
