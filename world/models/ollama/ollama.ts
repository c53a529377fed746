/** Ollama's own API through its package, which is given one `fetch` a call. */
import { Ollama, type ShowResponse } from 'ollama';
import { exactMessages } from '../../http/messages.ts';
import { guardedCall } from '../http/call.ts';
import type { Guard } from '../http/guard.ts';
import { refusalOf } from '../http/refusal.ts';
import type { Tape } from '../http/tape.ts';
import { truncated } from '../http/call.ts';
import { TURN_LIMITS, type TurnLimits } from '../port/turn.ts';
import type { TurnError } from '../port/turn-failure.ts';
import type { Embedding, ListedModel, Provider, PullProgress, ReportedFacts } from '../provider/provider.ts';
import { readLines } from './from-wire.ts';
import { explainOllama } from './refusals.ts';
import { toWire } from './to-wire.ts';

export interface OllamaSettings {
  name: string;
  /** As `ollamaAddress` gives it. */
  address: string;
}

/** Arguments of calls are values in its lines, which its package reads. */
const exactly =
  (send: Guard['fetch']): Guard['fetch'] =>
  async (address, init) =>
    exactMessages(await send(address, init), 'nearest');

const BRIEF_MS = 15_000;
const DAY_MS = 86_400_000;
const briefly: TurnLimits = { ...TURN_LIMITS, headersMs: BRIEF_MS, idleMs: BRIEF_MS, wallMs: BRIEF_MS };
const patiently: TurnLimits = { ...TURN_LIMITS, wallMs: DAY_MS };

/** A window of the trained size would often not fit into memory; configuration asks for another. */
export const WINDOW_WANTED = 32_768;

export function ollamaProvider({ name, address }: OllamaSettings): Provider {
  const setting = 'OLLAMA_HOST';
  const call = <Result>(
    model: string,
    parts: { signal: AbortSignal; limits: TurnLimits; tape?: Tape | undefined; expects: 'lines' | 'json' },
    ask: (client: Ollama, guard: Guard) => Promise<Result>,
  ): Promise<Result> => {
    const subject = { name, model, setting };
    return guardedCall(
      {
        ...parts,
        name,
        explain: (refusal) => explainOllama(subject, refusal),
        explainError: (error) => inStream(subject, error),
        eventsOf: (answer) => [answer],
      },
      (guard) => ask(new Ollama({ host: address, fetch: exactly(guard.fetch) }), guard),
    );
  };
  return {
    name,
    isLocal: true,
    isListed: true,
    setting,
    missing: null,
    send: (request, { facts, names, assembler, signal, limits, tape }) =>
      call(request.model, { signal, limits, tape, expects: 'lines' }, async (client, guard) => {
        const lines = await client.chat(toWire(request, facts, names));
        const hasTools = (request.tools?.length ?? 0) > 0;
        return readLines(lines, assembler, {
          name,
          model: request.model,
          hasTools,
          guard,
        });
      }),
    embed: (model, texts, signal) =>
      call(model, { signal, limits: TURN_LIMITS, expects: 'json' }, (client) => embedded(client, model, texts)),
    describe: (model, signal) =>
      call(model, { signal, limits: briefly, expects: 'json' }, async (client) =>
        factsOf(await client.show({ model })),
      ),
    list: (signal) =>
      call('models', { signal, limits: briefly, expects: 'json' }, async (client) => {
        const [{ models }, running] = [await client.list(), await client.ps()];
        const loaded = new Map(running.models.map((model) => [model.name, contextOf(model)]));
        return models.map(({ name: id, size }): ListedModel => ({
          id,
          sizeBytes: size,
          allocated: loaded.get(id) ?? null,
          window: null,
        }));
      }),
    pull: (model, signal, onProgress) =>
      call(model, { signal, limits: patiently, expects: 'lines' }, async (client) => {
        for await (const progress of await client.pull({ model, stream: true })) onProgress(progressOf(progress));
      }),
    close: () => Promise.resolve(),
  };
}

async function embedded(client: Ollama, model: string, texts: readonly string[]): Promise<Embedding> {
  const { embeddings } = await client.embed({ model, input: [...texts], truncate: true });
  return { vectors: embeddings, version: null };
}

const contextOf = (model: object): number | null => {
  const { context_length: length } = model as { context_length?: number };
  return length ?? null;
};

const progressOf = ({
  status,
  total,
  completed,
}: {
  status: string;
  total?: number;
  completed?: number;
}): PullProgress => ({
  status,
  totalBytes: total ?? null,
  completedBytes: completed ?? null,
});

function factsOf({ model_info: info, capabilities: said, details }: Partial<ShowResponse>): ReportedFacts {
  const capabilities = said ?? [];
  const [, trained] = Object.entries(info ?? {}).find(([key]) => key.endsWith('.context_length')) ?? [];
  const can = (what: string): boolean => capabilities.includes(what);
  return {
    ...(typeof trained === 'number' ? { window: Math.min(trained, WINDOW_WANTED) } : {}),
    ...(capabilities.length === 0
      ? {}
      : {
          tools: can('tools'),
          images: can('vision'),
          thinking: can('thinking')
            ? { kind: takesLevels(details?.family) ? ('effort' as const) : ('switch' as const) }
            : null,
        }),
  };
}

const takesLevels = (family: string | undefined): boolean => family === 'gptoss' || family === 'gpt-oss';

/** The package throws a plain `Error` for a line that holds one, and where the last line is missing. */
function inStream(subject: { name: string; model: string; setting: string }, error: Error): TurnError | null {
  if (error.constructor !== Error) return null;
  if (error.message.startsWith('Did not receive done')) return truncated(subject.name);
  return explainOllama(subject, refusalOf(500, new Headers(), JSON.stringify({ error: error.message })));
}
