/** Anthropic's Messages API through its SDK, whose own retries, logs and profiles are off. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Json } from '../../../language/json.ts';
import { guardedCall, saidIn, silentLogger } from '../http/call.ts';
import type { Guard } from '../http/guard.ts';
import { refusalOf } from '../http/refusal.ts';
import type { Tape } from '../http/tape.ts';
import { TURN_LIMITS, type TurnLimits } from '../port/turn.ts';
import type { TurnError } from '../port/turn-failure.ts';
import type { ListedModel, Provider, ReportedFacts } from '../provider/provider.ts';
import type { ThinkingControl } from '../records/facts.ts';
import { messageEvents, readEvents } from './from-wire.ts';
import { explainAnthropic } from './refusals.ts';
import { toWire } from './to-wire.ts';

export interface AnthropicSettings {
  name: string;
  apiKey: string | null;
  baseUrl: string | null;
  /** The variable that holds the key. */
  keyVariable: string;
}

const DESCRIBE_MS = 15_000;
const DEFAULT_ADDRESS = 'https://api.anthropic.com';

export function anthropicProvider(settings: AnthropicSettings): Provider {
  const { name, apiKey, baseUrl, keyVariable: setting } = settings;
  const call = <Result>(
    model: string,
    parts: { signal: AbortSignal; limits: TurnLimits; tape?: Tape | undefined; expects: 'events' | 'json' },
    ask: (client: Anthropic, guard: Guard) => Promise<Result>,
  ): Promise<Result> => {
    const subject = { name, model, setting };
    return guardedCall(
      {
        ...parts,
        name,
        explain: (refusal) => explainAnthropic(subject, refusal),
        explainError: (error) => inStream(subject, error),
        eventsOf: messageEvents,
      },
      async (guard) => ask(await clientFor({ apiKey, baseUrl }, guard), guard),
    );
  };
  return {
    name,
    isLocal: false,
    isListed: false,
    setting,
    missing: apiKey === null ? `no key is set; set ${setting}` : null,
    send: (request, { facts, names, assembler, signal, limits, tape }) =>
      call(request.model, { signal, limits, tape, expects: 'events' }, async (client, guard) => {
        const events = await client.messages.create(toWire(request, facts, names));
        const asked = { name, model: request.model, guard };
        return readEvents(events, assembler, asked);
      }),
    describe: (model, signal) =>
      call(model, { signal, limits: briefly, expects: 'json' }, async (client) =>
        factsOf(await client.models.retrieve(model)),
      ),
    list: (signal) =>
      call('models', { signal, limits: briefly, expects: 'json' }, async (client) => {
        const { data } = await client.models.list({ limit: 100 });
        return data.map(({ id, max_input_tokens: window }): ListedModel => ({
          id,
          sizeBytes: null,
          allocated: null,
          window,
        }));
      }),
    close: () => Promise.resolve(),
  };
}

const briefly: TurnLimits = { ...TURN_LIMITS, headersMs: DESCRIBE_MS, idleMs: DESCRIBE_MS, wallMs: DESCRIBE_MS };

/** Loaded with the first turn: a worker without such a provider, and most verbs, do without it. */
async function clientFor(
  { apiKey, baseUrl }: Pick<AnthropicSettings, 'apiKey' | 'baseUrl'>,
  guard: Guard,
): Promise<Anthropic> {
  const { default: Client } = await import('@anthropic-ai/sdk');
  return new Client({
    apiKey: apiKey ?? '',
    authToken: null,
    baseURL: baseUrl ?? DEFAULT_ADDRESS,
    maxRetries: 0,
    // The guard's times hold.
    timeout: 2_000_000_000,
    logger: silentLogger,
    fetch: guard.fetch,
  });
}

/** The SDK makes an error of an `error` event in the stream; there the status is that of the stream. */
function inStream(subject: { name: string; model: string; setting: string }, error: Error): TurnError | null {
  const said = saidIn(error);
  if (said === undefined) return null;
  const body = (said ?? null) as Json;
  return explainAnthropic(subject, refusalOf(500, new Headers(), JSON.stringify(body)));
}

function factsOf({
  max_input_tokens: window,
  max_tokens: maxOutput,
  capabilities,
}: Anthropic.ModelInfo): ReportedFacts {
  return {
    ...(window === null ? {} : { window }),
    ...(maxOutput === null ? {} : { maxOutput }),
    ...(capabilities === null || capabilities === undefined
      ? {}
      : {
          images: capabilities.image_input.supported,
          schema: capabilities.structured_outputs.supported,
          thinking: thinkingOf(capabilities.thinking),
        }),
  };
}

function thinkingOf({ supported, types }: Anthropic.ThinkingCapability): ThinkingControl | null {
  if (!supported) return null;
  if (types.adaptive.supported) return { kind: 'adaptive', canBeOff: types.disabled.supported };
  return types.enabled.supported ? { kind: 'budget' } : null;
}
