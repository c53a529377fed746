/** Commands as tools: a name, a sentence, and the JSON Schema of an object. */
import { parametersOf } from '../../../operations/parameters.ts';
import type { Registry } from '../../../operations/registry.ts';
import type { Tool } from '../../../world/models/port/turn.ts';

/** Those that this worker has; a call of another is answered by whoever runs it. */
export function toolsFor(registry: Pick<Registry, 'find'>, names: readonly string[]): Tool[] {
  return names.flatMap((name): Tool[] => {
    const command = registry.find(name);
    return command === undefined
      ? []
      : [{ name, description: command.description ?? `Runs the command ${name}.`, parameters: parametersOf(command) }];
  });
}
