/** The adapters behind a model's `+`: files now; layers and personas by a resolver. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AdapterName } from '../../../language/models/model-string.ts';
import { TurnError } from '../port/turn-failure.ts';
import type { Adapter } from '../port/turn.ts';

/** Who knows layers and personas. Each rejects with a `TurnError` where it knows none of that name. */
export interface LayerResolver {
  layer(name: string): Promise<Adapter>;
  /** The layers of a persona that are active now, composed as they are. */
  genome(persona: string): Promise<Adapter[]>;
}

const unknown = (what: string): TurnError =>
  new TurnError(
    { kind: 'unsupported', what: 'adapters' },
    `${what} cannot be found, because no system here knows layers; name the file of the adapter: "local/MODEL+./adapter.gguf"`,
  );

/** Where there is no genome. */
const noLayers: LayerResolver = {
  layer: (name) => Promise.reject(unknown(`the layer "${name}"`)),
  genome: (persona) => Promise.reject(unknown(`the genome of "${persona}"`)),
};

export async function findAdapters(
  names: readonly AdapterName[],
  { project, layers = noLayers }: { project: string; layers?: LayerResolver },
): Promise<Adapter[]> {
  const found: Adapter[] = [];
  for (const name of names) {
    if (name.type === 'path') found.push({ path: fileOf(name.path, project), scale: name.scale });
    else if (name.type === 'layer') found.push(scaled(await layers.layer(name.name), name.scale));
    else found.push(...(await layers.genome(name.persona)).map((layer) => scaled(layer, name.scale)));
  }
  return found;
}

const scaled = (adapter: Adapter, by: number): Adapter => ({ ...adapter, scale: adapter.scale * by });

function fileOf(given: string, project: string): string {
  const path = resolve(project, given);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path;
  throw new TurnError(
    { kind: 'bad-request', field: 'adapters' },
    `the adapter ${path} is not there; a relative path starts at the project of the run`,
  );
}
