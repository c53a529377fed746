/** What the servers behind an OpenAI-compatible address say of their models, each in a way of its own. */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { numberOf, objectOf } from '../http/fields.ts';
import type { ListedModel } from '../provider/provider.ts';

export type Ask = (path: string) => Promise<Json>;

/** `/models`: every server has it; vLLM also says the window there. */
export async function listModels(ask: Ask): Promise<ListedModel[]> {
  return objects(await ask('models'), 'data').flatMap((model) => {
    const { id } = model;
    if (typeof id !== 'string') return [];
    return [
      {
        id,
        sizeBytes: numberOf(objectOf(model['meta'])['size']),
        allocated: null,
        window: numberOf(model['max_model_len']),
      },
    ];
  });
}

/** llama.cpp says what it has allocated in `/props`, LM Studio in its own list; both beside `/v1`. */
export async function allocatedWindow(ask: Ask, id: string): Promise<number | null> {
  const props = objectOf(await quietly(ask, '../props'));
  const allocated = numberOf(objectOf(props['default_generation_settings'])['n_ctx']);
  if (allocated !== null) return allocated;
  const listed = await quietly(ask, '../api/v1/models');
  const own = [...objects(listed, 'models'), ...objects(listed, 'data')].find(
    (model) => model['key'] === id || model['id'] === id,
  );
  return numberOf(own?.['max_context_length']);
}

async function quietly(ask: Ask, path: string): Promise<Json> {
  try {
    return await ask(path);
  } catch {
    // Another kind of server: it has no such page.
    return null;
  }
}

function objects(body: Json, name: string): JsonObject[] {
  const list = isJsonObject(body) ? body[name] : null;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
