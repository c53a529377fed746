/** Vectors of texts for what a person asks: by the model that the configuration of the project names for it, opened where it is asked. */
import { readConfig } from '../../services/config/config.ts';
import { configFileOf } from '../../services/config/project-file.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import { modelRegistry } from '../../services/home/home-files.ts';
import type { Embed } from '../../world/models/embedding.ts';
import type { Models } from '../../world/models/open-models.ts';
import { configIn } from './open-project.ts';

export class ProjectEmbedding {
  readonly #project: string;
  #opening: Promise<Models | null> | undefined;

  constructor(project: string) {
    this.#project = project;
  }

  /** Null, too, where the configuration is not trusted. */
  readonly embed: Embed = async (texts, signal) => {
    this.#opening ??= this.#open();
    return (await this.#opening)?.embed(texts, signal) ?? null;
  };

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close();
  }

  async #open(): Promise<Models | null> {
    const file = configFileOf(this.#project);
    const settings = file === null ? undefined : (await configIn(file).catch(unlessRefused))?.models;
    if (settings?.embedding === undefined) return null;
    const [{ Models: Opened }, { builtProgram }] = await Promise.all([
      import('../../world/models/open-models.ts'),
      import('../../world/models/local/model-host.ts'),
    ]);
    const { home, packageRoot, models: env } = readConfig();
    return new Opened({
      settings,
      env,
      registry: modelRegistry(home),
      program: builtProgram(packageRoot),
      project: this.#project,
    });
  }
}

function unlessRefused(error: unknown): null {
  if (error instanceof ConfigError) return null;
  throw error;
}
