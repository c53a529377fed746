/**
 * One turn of a model step. The turn is claimed under its key, the answer is kept before the turn ends, and
 * whoever asks for a turn that has its answer gets it, and pays nothing.
 */
import { formFault } from '../../language/params/form.ts';
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { valueBytesMax } from '../../language/limits.ts';
import type { Masker } from '../../language/masking/masker.ts';
import { replyValue } from '../../language/models/reply-value.ts';
import type { TurnRequest } from '../../interpreter/contract.ts';
import type { TurnCall, TurnOutcome, TurnSettings } from '../../interpreter/effect.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import type {
  ConversationOf,
  Conversations,
  PlacedMessage,
} from '../../prisma/store/contract/models/conversation-contract.ts';
import type { Registry } from '../../operations/registry.ts';
import { isAway } from '../../prisma/store/connection/unavailable.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { DayBudgets, HeldToDay } from '../limits/day-budgets.ts';
import { useOf, type Limiter } from '../limits/limiter.ts';
import type { Models } from '../../world/models/open-models.ts';
import { callsOf, textOf, type Message, type ToolCallBlock } from '../../world/models/port/message.ts';
import { TurnError } from '../../world/models/port/turn-failure.ts';
import {
  TURN_LIMITS,
  type Delta,
  type Tool,
  type TurnOptions,
  type TurnReply,
  type TurnResult,
} from '../../world/models/port/turn.ts';
import { failureOf } from '../../world/models/provider/take-turn.ts';
import { costOf } from '../../world/models/records/facts.ts';
import { wireName } from '../../language/models/tool-names.ts';
import { defined } from '../../language/defined.ts';
import { NO_MODEL } from '../../world/models/resolve/resolve-model.ts';
import {
  liveModels,
  type Answerers,
  type AnsweringModel,
  type Found,
  type ModelRequest,
} from './cassettes/answering.ts';
import { Player } from './cassettes/player.ts';
import { Recorder } from './cassettes/recorder.ts';
import type { Shelf } from './cassettes/shelf.ts';
import { withContext } from './with-context.ts';
import { askingFor, estimatedTokens, fixedTokens, promptsShown, type Send } from './compaction/asking.ts';
import { planAt, whenFull, whenTooLong } from './compaction/compactor.ts';
import { shown, type Plan } from './compaction/view.ts';
import { hasOpening, promptsIn, readRows, saidBefore, withoutTools, type Conversed } from './conversation.ts';
import { ownMasker } from '../../world/own-keys/own-keys.ts';
import { maskConversed } from './mask-conversed.ts';
import type { LiveTurn } from './live/live-turn.ts';
import { toolsInText, highlight } from './prompts/prompts.ts';
import { TurnTapes } from './raw-answers.ts';
import { keepFailed, spentIn } from './spending.ts';
import { toldBy, type Told } from './told-calls.ts';
import { optionsOf, toolsOf, toolsFor } from './turn-options.ts';
import { turnFailure, unusableAnswer } from './turn-failures.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export interface TurnParts {
  store: Pick<Store, 'conversations' | 'spending' | 'cassettes' | 'rawAnswers'>;
  registry: Pick<Registry, 'find'>;
  /** Null: none are configured. */
  models: Pick<Models, 'resolve' | 'turn'> | null;
  /** Absent: nothing is limited. */
  limiter?: Limiter;
  days?: Pick<DayBudgets, 'hold'>;
  /** Says whether a run answers from a cassette. Absent: none does. */
  shelf?: Pick<Shelf, 'of'>;
}

export interface TurnPlace extends HeldToDay {
  run: Pick<RunContext, 'handle' | 'project'>;
  /** The folder that the step works in, where that is not the project. */
  root?: string | undefined;
  /** Which attempt of the activity of who asks. */
  attempt: string;
  /** Who chose the model: no definition that a person wrote. */
  byModel?: boolean | undefined;
  /** Told where the turn had its answer already. */
  known?: () => void;
  timeoutMs: number;
  signal: AbortSignal;
  /** What nothing that is sent may hold. */
  masker?: Masker;
  /** Hears what the model says while it does. */
  live?: Pick<LiveTurn, 'isLater' | 'begin' | 'hear' | 'end'>;
}

/** `isAgain`: somebody asked for the turn before. `recorder`: answers, and remembers it. `isPaid`: a model is asked. */
type AskPlace = TurnPlace & { isAgain: boolean; recorder: Recorder; isPaid: boolean; tapes: TurnTapes };

export async function runTurn(parts: TurnParts, request: TurnRequest, place: TurnPlace): Promise<TurnOutcome> {
  const { conversations } = parts.store;
  const { conversation, turn } = request;
  const of = { handle: place.run.handle, conversation };
  // What was asked for before may have been heard in part.
  const isAgain = place.live?.isLater === true && (await conversations.wasAsked(of, turn));
  const replay = (await parts.shelf?.of(of.handle)) ?? null;
  const isPaid = replay === null;
  const at = { handle: of.handle, key: place.asker };
  crashPoint('turn.begun', at);
  if (isPaid) await parts.days?.hold(place, () => conversations.wasAsked(of, turn));
  const { answer: before, isFirst } = await conversations.claim(of, turn, place.attempt, { isRequest: isPaid });
  if (before !== null) {
    crashPoint('turn.taken-over', at);
    place.known?.();
    return outcomeIn(before);
  }
  crashPoint('turn.claimed', at);
  await conversations.add(
    of,
    await saidBefore(await unopened(conversations, of, request), place.root ?? place.run.project),
  );
  const rows = await conversations.read(of, turn);
  const plan = await planAt(conversations, of, request.compaction);
  const { run, asker } = place;
  const recorder = new Recorder(
    replay === null ? ownModels(parts) : new Player(parts.store.cassettes, replay, { ...of, turn, asker, run }),
  );
  const tapes = new TurnTapes(parts.store, { ...of, turn, attempt: place.attempt }, { asker, isFirst });
  const taken = await paid(parts, request, { ...place, isAgain, recorder, isPaid, tapes }, { rows, plan });
  void place.live?.end();
  if ('compacted' in taken) return taken.compacted;
  const { asked, outcome } = taken;
  const message: Message = { role: 'assistant', blocks: asked.blocks, author: asked.reply.author };
  const spent = isPaid ? { model: outcome.model, tokens: outcome.usage, usd: outcome.usd } : null;
  const answer = { outcome: outcome as unknown as JsonObject, ...recordOf(asked) };
  crashPoint('turn.answered', at);
  try {
    const kept = await conversations.answer(of, turn, answer, message as unknown as JsonObject, {
      attempt: tapes.payer,
      spent,
      asked: { asker, requests: recorder.requests },
    });
    crashPoint('turn.kept', at);
    return outcomeIn(kept);
  } catch (error) {
    if (isAway(error)) throw error;
    const failure = unusableAnswer(error, detailsOf(asked.reply, asked.model));
    if (isPaid) await keepFailed(parts.store, { ...of, turn, attempt: tapes.payer }, failure);
    throw failure;
  }
}

/** What a conversation began with stays, whatever has become of the pictures since. */
async function unopened(conversations: Conversations, of: ConversationOf, request: TurnRequest): Promise<TurnRequest> {
  if (request.opening === undefined || !hasOpening(await conversations.read(of, request.turn))) return request;
  const { opening: _opening, ...rest } = request;
  return rest;
}

const ownModels = ({ models }: TurnParts): Answerers =>
  models === null ? { find: () => Promise.reject(new Failure('MODEL_NOT_FOUND', NO_MODEL)) } : liveModels(models);

const outcomeIn = (answer: JsonObject): TurnOutcome => answer['outcome'] as unknown as TurnOutcome;

interface Answered extends Told {
  reply: TurnReply;
  model: AnsweringModel;
  prompts: { [name: string]: number };
  /** Tokens of the request, as they were estimated. */
  estimated: number;
}

/** What people want to know of a turn, besides what the run goes on with. */
function recordOf({ reply, prompts, estimated }: Answered): JsonObject {
  const { requestId, omitted, model } = reply;
  return { requestId, omitted, answeredAs: model, prompts, estimated };
}

interface Said {
  rows: readonly PlacedMessage[];
  plan: Plan;
}

/** What it cost is kept, whatever comes of it. `cut`: the same of an answer that the step's time or a cancellation cuts off. */
async function paid(
  parts: TurnParts,
  request: TurnRequest,
  place: AskPlace,
  said: Said,
): Promise<{ asked: Answered; outcome: TurnOutcome } | { compacted: TurnOutcome }> {
  const { conversation, turn } = request;
  const of = { handle: place.run.handle, conversation, turn };
  const cut: JsonObject = {};
  try {
    const asked = await ask(parts, request, { ...place, cut }, said);
    if (!('compacted' in asked)) return { asked, outcome: usableOutcome(asked, request.settings) };
    // What it cost stands with the compaction.
    await parts.store.spending.withdraw({ ...of, attempt: place.tapes.payer });
    return asked;
  } catch (error) {
    if (place.isPaid) await keepFailed(parts.store, { ...of, attempt: place.tapes.payer }, error, cut);
    if (error instanceof Failure)
      await parts.store.cassettes.keep({ ...of, asker: place.asker }, place.recorder.requests);
    throw error;
  }
}

async function ask(
  parts: TurnParts,
  request: TurnRequest,
  place: AskPlace & { cut: JsonObject },
  said: Said,
): Promise<Answered | { compacted: TurnOutcome }> {
  const { settings } = request;
  const tools = toolsFor(parts.registry, request.tools);
  const options = optionsOf(settings);
  const timeout = AbortSignal.timeout(Math.min(place.timeoutMs, 2 ** 31 - 1));
  const signal = AbortSignal.any([place.signal, timeout]);
  let found: Found | undefined;
  const { cut } = place;
  const onCut: Asked['onCut'] = (usage) => {
    if (found !== undefined) Object.assign(cut, detailsOf({ usage }, found.model));
  };
  try {
    const { messages } = readRows(shown(said.rows, said.plan));
    found = await place.recorder.find(
      request.model,
      // Where calls are read out of the text, a model need not have tools of its own.
      { messages, ...options, ...(settings.parseToolCalls === true ? {} : { tools }) },
      { project: place.run.project, run: place.run.handle, byModel: place.byModel, signal },
    );
    const { rows, prompts } = await withContext(parts.store.conversations, request, place.run.handle, {
      rows: said.rows,
      facts: found.model.facts,
      tools,
    });
    place.live?.begin(found.model.name, place.isAgain);
    return await askModel(parts, request, place, { ...said, rows, prompts, found, tools, options, signal, onCut });
  } catch (error) {
    if (place.signal.aborted) throw place.signal.reason;
    if (timeout.aborted)
      throw new Failure(
        'STEP_TIMEOUT',
        `${request.model} had not answered within the step's time; raise timeoutMs, or ask for less`,
        'spent' in cut ? { details: cut } : {},
      );
    if (!(error instanceof TurnError)) throw error;
    throw turnFailure(failureOf(error, found?.model.provider ?? '', request.model), null);
  }
}

interface Asked extends Said {
  /** Of the context, with their versions. */
  prompts: { [name: string]: number };
  found: Found;
  tools: Tool[];
  options: ReturnType<typeof optionsOf>;
  signal: AbortSignal;
  onCut: NonNullable<TurnOptions['onCut']>;
}

/** One request; or, where the conversation is too long for it, what was made of the conversation. */
async function askModel(
  { store, limiter }: TurnParts,
  request: TurnRequest,
  { run, attempt, asker, timeoutMs, live, masker = ownMasker(), recorder, isPaid, tapes }: AskPlace,
  { rows, plan, prompts: contextPrompts, found, tools, options, signal, onCut }: Asked,
): Promise<Answered | { compacted: TurnOutcome }> {
  const { settings } = request;
  const { model } = found;
  const { facts } = model;
  const { schema, ...withoutSchema } = options;
  const inText = settings.parseToolCalls === true && tools.length > 0 && !facts.tools;
  const besides = besidesOf(request, tools, inText);
  const limits = { wallMs: Math.min(timeoutMs, TURN_LIMITS.wallMs) };
  const send: Send = async (told, summaryTokens) => {
    const isSummary = summaryTokens !== undefined;
    const turn = {
      ...maskConversed(withBesides(readRows(told), besides, inText), masker),
      ...(inText ? {} : toolsOf(tools, isSummary ? {} : settings)),
    };
    const own = isSummary ? { ...withoutSchema, maxTokens: summaryTokens } : options;
    // A summary is nothing that the model says to anybody.
    const onDelta = isSummary ? {} : { onDelta: (delta: Delta): void => live?.hear(delta) };
    const asking: ModelRequest = { ...turn, ...own, cache: '5m' };
    const sent = (rest: Pick<TurnOptions, 'tape'>): Promise<TurnResult> =>
      found.turn(asking, { signal, limits, onCut, ...onDelta, ...rest });
    if (!isPaid) return sent({});
    const tape = await tapes.of(model, asking);
    if (limiter === undefined || tape.kept !== null) return sent({ tape });
    const use = { id: useOf(run.handle, `${request.conversation}/turn.${request.turn}`), timeoutMs, signal };
    return limiter.provider(model.provider, use, () => sent({ tape }));
  };
  const fixed = fixedTokens(tools, { inText, ...defined({ schema }) });
  const asking = await askingFor(
    store.conversations,
    request,
    { handle: run.handle, attempt, asked: { asker, requests: recorder.requests }, isPaid },
    { rows, plan, model, fixed, send, thrown: (failure) => turnFailure(failure, facts.prices) },
  );
  const early = await whenFull(asking);
  if (early !== null) return { compacted: early };
  const result = await send(shown(rows, plan));
  const late = await whenTooLong(asking, result);
  if (late !== null) return { compacted: late };
  if (!result.ok) throw turnFailure(result.failure, facts.prices);
  const { reply } = result;
  const prompts = {
    ...request.prompts,
    ...promptsIn(request),
    ...promptsShown(plan),
    ...contextPrompts,
    ...Object.fromEntries(besides.map(({ prompt }) => [prompt.name, prompt.version])),
  };
  const estimated = estimatedTokens(rows, plan, fixed);
  return { reply, model, ...toldBy(reply, settings, tools), prompts, estimated };
}

interface Beside {
  prompt: { name: string; version: number };
  text: string;
}

/** What of ours stands in the system text. */
function besidesOf({ highlighted = [] }: TurnRequest, tools: Tool[], inText: boolean): Beside[] {
  const names = highlighted.map((name) => (inText ? name : wireName(name)));
  return [
    ...(names.length === 0 ? [] : [{ prompt: highlight, text: highlight.render({ tools: names }) }]),
    ...(inText ? [{ prompt: toolsInText, text: toolsInText.render({ tools }) }] : []),
  ];
}

function withBesides({ system, messages }: Conversed, besides: readonly Beside[], inText: boolean): Conversed {
  const whole = [...(system === undefined ? [] : [system]), ...besides.map(({ text }) => text)].join('\n\n');
  return { ...(whole === '' ? {} : { system: whole }), messages: inText ? withoutTools(messages) : messages };
}

/** Whatever the reading of a paid answer meets is a failure that says what it cost. */
function usableOutcome(asked: Answered, settings: TurnSettings): TurnOutcome {
  try {
    return outcomeOf(asked, settings);
  } catch (error) {
    throw error instanceof Failure ? error : unusableAnswer(error, detailsOf(asked.reply, asked.model));
  }
}

function outcomeOf(
  { reply, model, blocks, barred, unread }: Answered,
  { schema, keepsText }: TurnSettings,
): TurnOutcome {
  const { usage, isMiscounted, stopReason, author } = reply;
  const { reason, notices, facts } = model;
  const calls = callsOf({ role: 'assistant', blocks, author }).map(callOf);
  return {
    stopReason: calls.length > 0 ? 'tool-calls' : stopReason === 'tool-calls' ? 'end' : stopReason,
    calls,
    ...(calls.length > 0
      ? keepsText === true
        ? { text: textOf(blocks) }
        : {}
      : finalOf(textOf(blocks), schema, detailsOf(reply, model))),
    usage,
    ...defined({ isMiscounted }),
    ...(barred.length === 0 ? {} : { barred }),
    ...(unread.length === 0 ? {} : { unread }),
    usd: costOf(usage, facts.prices),
    model: model.name,
    ...(reason === null ? {} : { reason }),
    ...(notices.length === 0 ? {} : { notices }),
  };
}

const callOf = ({ id, name, input, invalid }: ToolCallBlock): TurnCall => ({
  id,
  name,
  input,
  ...defined({ invalid }),
});

/** Of an answer that was paid for and cannot be used. */
function detailsOf({ usage }: Pick<TurnReply, 'usage'>, { provider, model, facts }: AnsweringModel): JsonObject {
  return { provider, model, spent: spentIn(usage, facts.prices) };
}

function finalOf(
  text: string,
  schema: TurnSettings['schema'],
  details: JsonObject,
): Pick<TurnOutcome, 'text' | 'value' | 'fault'> {
  const bytes = Buffer.byteLength(text);
  if (bytes > valueBytesMax)
    throw new Failure(
      'VALUE_TOO_LARGE',
      `the answer has ${bytes} bytes, and at most ${valueBytesMax} fit in a run; ask for less`,
      { details },
    );
  const value = replyValue(text);
  const fault = isJsonObject(schema) ? formFault(schema, value) : null;
  return { text, value, ...(fault === null ? {} : { fault }) };
}
