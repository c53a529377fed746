/** Commands as they are performed over a real store: by a step, which is committed as the interpreter's hosts commit it, and by a person. */
import type { Json, JsonObject } from '../../../language/json.ts';
import type { CommandContext } from '../../../operations/command.ts';
import type { Registry } from '../../../operations/registry.ts';
import { perform } from '../../../operations/perform.ts';
import type { Opened } from '../../store/harness/opened.ts';
import { commandContext } from './command-context.ts';

interface Commands {
  /** Each time a step of its own. */
  step: (name: string, params: JsonObject, project: string, over?: Partial<CommandContext>) => Promise<Json>;
  person: (command: string, params: JsonObject, by?: string) => Promise<Json>;
}

export function commandsOf(opened: Opened, registry: Registry): Commands {
  let calls = 0;
  return {
    async step(name, params, project, over = {}) {
      const { store } = { ...opened, ...over };
      const session = store.session();
      const number = (calls += 1);
      const context = commandContext(project, { store, session, key: `steps.${number}@1`, ...over });
      try {
        const result = await registry.run(name, params, context);
        // A step that is performed again has a row of its own each time.
        const key = `${context.key} ${number}`;
        await session.commit({ handle: context.run.handle, key, result, events: [] });
        return result;
      } finally {
        await session.close();
      }
    },

    person(command, params, by = 'ada') {
      const parts = { store: opened.store, registry, runs: commandContext('/').runPort };
      return perform(parts, { command, params, by, project: '/', id: `call ${(calls += 1)}`, timeoutMs: 30_000 });
    },
  };
}
