/** Any endpoint that speaks OpenAI's chat completions, through its SDK, whose own retries and logs are off. */
import type OpenAI from 'openai';
import type { Json } from '../../../language/json.ts';
import { guardedCall, saidIn, silentLogger } from '../http/call.ts';
import type { Guard } from '../http/guard.ts';
import { refusalOf } from '../http/refusal.ts';
import type { Tape } from '../http/tape.ts';
import { TurnError } from '../port/turn-failure.ts';
import { TURN_LIMITS, type TurnLimits } from '../port/turn.ts';
import type { Embedding, Provider } from '../provider/provider.ts';
import { isOpenAi, OPENAI, PLAIN, type Dialect } from './dialect.ts';
import { completionEvents, readChunks } from './from-wire.ts';
import { explainOpenAi } from './refusals.ts';
import { allocatedWindow, listModels, type Ask } from './reported.ts';
import { toWire } from './to-wire.ts';

export interface OpenAiSettings {
  name: string;
  apiKey: string | null;
  /** With `/v1`; null for OpenAI itself. */
  baseUrl: string | null;
  keyVariable: string;
  isLocal: boolean;
  dialect?: Partial<Dialect>;
}

const DEFAULT_ADDRESS = 'https://api.openai.com/v1';
const BRIEF_MS = 15_000;
const briefly: TurnLimits = { ...TURN_LIMITS, headersMs: BRIEF_MS, idleMs: BRIEF_MS, wallMs: BRIEF_MS };

export function openAiProvider(settings: OpenAiSettings): Provider {
  const { name, apiKey, keyVariable: setting, isLocal } = settings;
  const baseUrl = (settings.baseUrl ?? DEFAULT_ADDRESS).replace(/\/+$/, '');
  const dialect = { ...(isOpenAi(baseUrl) ? OPENAI : PLAIN), ...settings.dialect };
  // Of a server of one's own, whoever configured it knows what its models take.
  const configured = isOpenAi(baseUrl) || !dialect.effort ? {} : { thinking: { kind: 'effort' as const } };
  const call = <Result>(
    model: string,
    parts: { signal: AbortSignal; limits: TurnLimits; tape?: Tape | undefined; expects: 'events' | 'json' },
    ask: (guard: Guard) => Promise<Result>,
  ): Promise<Result> => {
    const subject = { name, model, setting };
    return guardedCall(
      {
        ...parts,
        name,
        explain: (refusal) => explainOpenAi(subject, refusal),
        explainError: (error) => inStream(subject, error),
        eventsOf: completionEvents,
      },
      ask,
    );
  };
  const asking =
    (model: string, signal: AbortSignal): Ask =>
    (path) =>
      call(model, { signal, limits: briefly, expects: 'json' }, (guard) => readJson(guard, path, { apiKey, baseUrl }));
  return {
    name,
    isLocal,
    isListed: !isOpenAi(baseUrl),
    setting,
    // A server of one's own often takes no key.
    missing: apiKey === null && settings.baseUrl === null ? `no key is set; set ${setting}` : null,
    send: (request, { names, assembler, signal, limits, tape }) =>
      call(request.model, { signal, limits, tape, expects: 'events' }, async (guard) => {
        const client = await clientFor({ apiKey, baseUrl }, guard);
        const chunks = await client.chat.completions.create(toWire(request, dialect, names));
        return readChunks(chunks, assembler, { name, model: request.model, names, guard });
      }),
    embed: (model, texts, signal) =>
      call(model, { signal, limits: TURN_LIMITS, expects: 'json' }, async (guard) =>
        embedded(await clientFor({ apiKey, baseUrl }, guard), model, texts),
      ),
    async describe(model, signal) {
      const ask = asking(model, signal);
      const found = (await listModels(ask)).find(({ id }) => id === model);
      if (found === undefined && isOpenAi(baseUrl))
        throw new TurnError(
          { kind: 'model-not-found', retired: false },
          `${name}/${model}: the provider lists no such model`,
        );
      const window = found?.window ?? (isOpenAi(baseUrl) ? null : await allocatedWindow(ask, model));
      return { ...(window === null ? {} : { window }), ...configured };
    },
    list: (signal) => listModels(asking('models', signal)),
    close: () => Promise.resolve(),
  };
}

async function readJson(
  { fetch }: Guard,
  path: string,
  { apiKey, baseUrl }: { apiKey: string | null; baseUrl: string },
): Promise<Json> {
  const headers = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const response = await fetch(new URL(path, `${baseUrl}/`), { headers });
  return (await response.json()) as Json;
}

async function embedded(client: OpenAI, model: string, texts: readonly string[]): Promise<Embedding> {
  const { data } = await client.embeddings.create({ model, input: [...texts], encoding_format: 'float' });
  const inOrder = data.toSorted((one, other) => one.index - other.index);
  return { vectors: inOrder.map(({ embedding }) => embedding), version: null };
}

/** Loaded with the first turn: a worker without such a provider, and most verbs, do without it. */
async function clientFor(
  { apiKey, baseUrl }: { apiKey: string | null; baseUrl: string },
  guard: Guard,
): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({
    // The SDK insists on one; servers without keys do not read it.
    apiKey: apiKey ?? 'none',
    organization: null,
    project: null,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: 2_000_000_000,
    logger: silentLogger,
    fetch: guard.fetch,
  });
}

/** The SDK makes an error of a chunk that holds one; it has no status then. */
function inStream(subject: { name: string; model: string; setting: string }, error: Error): TurnError | null {
  const said = saidIn(error);
  if (said === undefined) return null;
  const body = { error: (said ?? { message: error.message }) as Json };
  return explainOpenAi(subject, refusalOf(200, new Headers(), JSON.stringify(body)));
}
