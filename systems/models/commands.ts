/**
 * `ai/generate` asks a model once, as a model step does: the same models and routes, a conversation under the key of
 * the step, an answer that is kept before it counts. `ai/should-respond` asks whether there is anything to say.
 */
import * as z from 'zod';
import { textOf } from '../../language/expression/scope.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { Effort } from '../../language/settings.ts';
import type { TurnRequest } from '../../interpreter/contract.ts';
import type { Opening, TurnOutcome, TurnSettings } from '../../interpreter/effect.ts';
import { repairsMax } from '../../interpreter/models/model-turn.ts';
import { NO_USAGE, plusUsage, tokensOf, type TokenUsage } from '../../language/models/token-usage.ts';
import { defined } from '../../language/defined.ts';
import { Failure } from '../../world/failures/failures.ts';
import { shouldRespond } from './should-respond.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import type { Predicted } from '../../operations/predicted.ts';

const Text = z.string().min(1);
const Asking = {
  model: Text.optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.number().int().positive().optional(),
  thinking: Effort.optional(),
  /** What `rag/build` gave, or anything else that has to be known. */
  ragContext: Value.optional(),
};

const GenerateParams = z
  .strictObject({
    prompt: Text.optional(),
    system: Text.optional(),
    messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() })).optional(),
    images: z.array(Text).optional(),
    schema: z.record(z.string(), Value).optional(),
    ...Asking,
  })
  .refine(
    ({ prompt, messages = [], ragContext }) => prompt !== undefined || messages.length > 0 || ragContext !== undefined,
    'must hold a prompt, messages, or ragContext',
  );
type GenerateParams = z.infer<typeof GenerateParams>;

async function generate(params: GenerateParams, context: CommandContext): Promise<JsonObject> {
  const { system, messages = [], prompt, images = [], schema } = params;
  const known = knownFrom(params.ragContext);
  if (prompt === undefined && messages.length === 0 && known === null)
    throw new Failure(
      'COMMAND_PARAMS_INVALID',
      'ai/generate: nothing is asked: "ragContext" is empty, and there is no "prompt"; add one',
    );
  const opening: Opening = {
    ...defined({ system }),
    messages: messages.map(({ role, content }) => ({ role, text: content })),
    images,
    ...(prompt === undefined && known === null ? {} : { prompt: [known, prompt].filter(isThere).join('\n\n') }),
  };
  const { outcome, usage, usd } = await converse(context, params, opening, schema);
  const { text = '', value = text, stopReason, model, reason } = outcome;
  return {
    text,
    data: value,
    stopReason,
    model,
    ...defined({ modelReason: reason }),
    usage: { ...usage, tokens: tokensOf(usage), usd },
  };
}

const isThere = (text: string | null | undefined): text is string => typeof text === 'string' && text !== '';

/** The text of what `rag/build` gave; else the value as text. */
function knownFrom(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  const text = isJsonObject(value) && typeof value['text'] === 'string' ? value['text'] : textOf(value);
  return text === '' ? null : text;
}

type Settings = Pick<GenerateParams, 'model' | 'temperature' | 'maxTokens' | 'thinking'>;

interface Conversed {
  outcome: TurnOutcome;
  /** Of all turns. */
  usage: TokenUsage;
  usd: number;
}

/** One turn, and where a schema asks for it the turns that mend the answer. */
async function converse(
  context: CommandContext,
  { model = 'auto', temperature, maxTokens, thinking }: Settings,
  opening: Opening,
  schema: JsonObject | undefined,
  prompts: TurnRequest['prompts'] = {},
): Promise<Conversed> {
  const settings: TurnSettings = {
    // One question: there are no earlier turns that could be shortened.
    autoCompact: false,
    ...defined({ temperature, maxTokens, thinking, schema }),
  };
  let [usage, usd]: [TokenUsage, number] = [NO_USAGE, 0];
  let fault: string | undefined;
  for (let turn = 1; ; turn += 1) {
    const request: TurnRequest = {
      conversation: context.key,
      turn,
      model,
      say: fault === undefined ? [] : [{ prompt: 'repair', fault }],
      answers: [],
      tools: [],
      settings,
      prompts,
      ...(turn === 1 ? { opening } : {}),
    };
    const outcome = await context.turn(request, context.signal);
    usage = plusUsage(usage, outcome.usage);
    usd += outcome.usd ?? 0;
    const spent = { tokens: tokensOf(usage), usd };
    refuse(outcome, spent);
    if (outcome.fault === undefined) return { outcome, usage, usd };
    if (turn > repairsMax)
      throw new Failure(
        'MODEL_ANSWER_INVALID',
        `the answer of ${outcome.model} does not fit the schema: ${outcome.fault}; say it in the prompt, or choose another model`,
        { details: { spent } },
      );
    ({ fault } = outcome);
  }
}

function refuse({ stopReason, model }: TurnOutcome, spent: JsonObject): void {
  if (stopReason === 'refusal')
    throw new Failure('MODEL_CONTENT_REFUSED', `${model} declined to answer; word the prompt differently`, {
      details: { spent },
    });
  if (stopReason === 'window-full')
    throw new Failure(
      'MODEL_CONTEXT_TOO_LONG',
      `what was asked and answered filled the window of ${model}; ask for less, or choose a model with a larger window`,
      { details: { spent } },
    );
}

const RespondParams = z
  .strictObject({
    /** What was said. */
    message: Text.optional(),
    /** Who may respond; the run's persona when absent. */
    personaId: Text.optional(),
    /** How they take part, in words. */
    strategy: Text.optional(),
    ...Asking,
  })
  .refine(
    ({ message, ragContext }) => message !== undefined || ragContext !== undefined,
    'must hold a message, or ragContext',
  );

const DECISION: JsonObject = {
  type: 'object',
  properties: {
    shouldRespond: { type: 'boolean' },
    confidence: { type: 'number' },
    reason: { type: 'string' },
  },
  required: ['shouldRespond', 'confidence', 'reason'],
  additionalProperties: false,
};

async function decide(params: z.infer<typeof RespondParams>, context: CommandContext): Promise<JsonObject> {
  const about = [knownFrom(params.ragContext), params.message].filter(isThere).join('\n\n');
  // Nobody has to be paid to know what to say to nothing.
  if (about === '')
    return { shouldRespond: false, confidence: 1, reason: 'Nothing was said.', model: null, usage: null };
  const prompt = shouldRespond.render({
    who: params.personaId ?? context.run.persona,
    about,
    strategy: params.strategy ?? null,
  });
  const { outcome, usage, usd } = await converse(
    context,
    { thinking: 'low', ...params },
    { messages: [], images: [], prompt },
    DECISION,
    { [shouldRespond.name]: shouldRespond.version },
  );
  const decision = isJsonObject(outcome.value ?? null) ? (outcome.value as JsonObject) : {};
  const { confidence } = decision;
  return {
    shouldRespond: decision['shouldRespond'] === true,
    confidence: typeof confidence === 'number' ? Math.min(1, Math.max(0, confidence)) : 0,
    reason: textOf(decision['reason']),
    model: outcome.model,
    usage: { ...usage, tokens: tokensOf(usage), usd },
  };
}

const Row = z.custom<JsonObject>((value) => isJsonObject(value));

const asked = (): Predicted => ({ text: 'asks a model', source: 'assumed' });

export const aiCommands: Command[] = [
  defineCommand({
    name: 'ai/generate',
    word: 'ask',
    description: 'Asks a model once and gives its answer, as text and as a value where it is JSON.',
    permission: 'network',
    speed: 'long',
    timeoutMs: 600_000,
    textField: 'text',
    textParams: ['prompt', 'system'],
    asksModel: true,
    params: GenerateParams,
    needs: [['prompt'], ['messages'], ['ragContext']],
    result: Row,
    run: generate,
    predict: asked,
  }),
  defineCommand({
    name: 'ai/should-respond',
    description: 'Asks a model whether a persona should respond to what was said.',
    permission: 'network',
    speed: 'long',
    timeoutMs: 600_000,
    textField: 'reason',
    textParams: ['message', 'strategy'],
    asksModel: true,
    params: RespondParams,
    needs: [['message'], ['ragContext']],
    result: Row,
    run: decide,
    predict: asked,
  }),
];
