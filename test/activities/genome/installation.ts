/** An installation with layers, as far as the commands of the genome see it. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { CommandContext } from '../../../operations/command.ts';
import type { Registry } from '../../../operations/registry.ts';
import { noTraining } from '../../../operations/training.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Opened } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';

/** As another machine: with a database and a folder of its own. */
export class Installation {
  readonly home: string;
  readonly opened: Opened;
  readonly registry: Registry;
  readonly #project: string;
  readonly #step: ReturnType<typeof commandsOf>['step'];
  /** What the name of the base leads to there. */
  base: string;

  constructor(folder: string, name: string, opened: Opened) {
    this.#project = join(folder, 'project');
    this.home = join(folder, name);
    this.opened = opened;
    this.base = join(folder, 'base.gguf');
    const training = {
      ...noTraining,
      folder: () => this.home,
      base: (asked: string) =>
        Promise.resolve(asked === 'local/none' ? { fault: 'no such model' } : { path: this.base, name: asked }),
    };
    this.registry = builtInRegistry({ training });
    this.#step = commandsOf(opened, this.registry).step;
  }

  step(name: string, params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> {
    const run = { handle: 'runs', project: this.#project, persona: 'ada', definitionHash: '' };
    return this.#step(name, params, this.#project, { run, ...over });
  }

  async write(sql: string, values: Json[]): Promise<void> {
    const session = this.opened.store.session();
    await session.write(sql, values);
    await session.end();
    await session.close();
  }

  async counts(): Promise<Json> {
    const session = this.opened.store.session();
    const tables = ['adapters', 'gates', 'layers', 'tags', 'compositions', 'active'];
    const found = await session.read(
      `select ${tables.map((one) => `(select count(*)::int from genome_${one}) as ${one}`).join(', ')}`,
      [],
    );
    await session.close();
    const kept = join(this.home, 'adapters');
    return { ...found[0], files: existsSync(kept) ? readdirSync(kept).length : 0 };
  }
}
