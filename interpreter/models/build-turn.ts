/** From a model step and the names in scope to the turn, and the calls, that the host is asked for. */
import { findCommand } from '../../language/catalogue.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import { modelTimeoutMs, modelTurnsMax } from '../../language/limits.ts';
import type { CommandStep, LlmStep } from '../../language/model.ts';
import { tokensOf } from '../../language/models/token-usage.ts';
import { picturesOf, type FoundPicture } from '../../language/models/pictures.ts';
import { defined } from '../../language/defined.ts';
import type { TurnRequest } from '../contract.ts';
import { confinementOf, labelOf, secretsOf, strictFailure, withRights } from '../build-effect.ts';
import type { AutoCompact, CallPlace, CommandEffect, Opening, TurnEffect, TurnSettings, Place } from '../effect.ts';
import type { Strand } from '../host.ts';
import { remainingMs, runningMs } from '../limits.ts';
import { namesAt, Reader } from '../names.ts';
import { contextOf } from './opening-context.ts';
import type { ModelFrame } from '../position.ts';
import { offered } from '../offered.ts';
import { reachOfCall, secretsNamed } from '../reach.ts';
import { effortOf } from './thinking-depth.ts';
import { ToldTexts } from './told-texts.ts';
import type { Walk } from '../walk-state.ts';
import { rootAt } from '../workspace.ts';

export type BuiltTurn = { effect: TurnEffect; unresolved: string[] } | { failure: FailureInfo };

/** What is left of the step's time, which does not pass while the run is held. */
export function stepTimeLeft(walk: Walk, strand: Strand, step: LlmStep, open: Pick<ModelFrame, 'since'>): number {
  const whole = Math.min(step.timeoutMs ?? modelTimeoutMs, walk.input.limits.stepTimeoutMs ?? Infinity);
  return Math.min(whole - (runningMs(walk) - open.since), remainingMs(walk, strand) ?? Infinity);
}

export const turnsMax = ({ maxTurns = modelTurnsMax }: LlmStep): number => maxTurns;

/** A turn that is asked for again has a key of its own. */
export function turnKey(
  { key }: Pick<Place, 'key'>,
  { turn, waits, compaction }: Pick<ModelFrame, 'turn' | 'waits' | 'compaction'>,
): string {
  const again = waits + (compaction?.turn === turn ? compaction.number : 0);
  return `${key}/turn.${turn}${again === 0 ? '' : `#${again + 1}`}`;
}

export function buildTurn(walk: Walk, strand: Strand, step: LlmStep, place: Place, open: ModelFrame): BuiltTurn {
  const scope = namesAt(walk, strand, place.passes, place.path);
  const [told, reader] = [new ToldTexts(scope), new Reader(scope)];
  const opening = openingOf(step, told, reader);
  const context = open.turn > 1 ? undefined : contextOf(walk, strand, place, { read: told.read, scope });
  const model = reader.text(step.model ?? 'auto');
  const unresolved = [...new Set([...told.unresolved, ...reader.unresolved])];
  const fault = told.fault ?? reader.fault;
  if (fault) return { failure: { ...fault, message: `${place.key}: ${fault.message}`, retryable: false } };
  if (walk.input.definition.strict === true && unresolved.length > 0)
    return { failure: strictFailure(place.key, unresolved) };
  const effect: TurnEffect = {
    type: 'turn',
    key: turnKey(place, open),
    label: labelOf(step),
    timeoutMs: Math.max(1, stepTimeLeft(walk, strand, step, open)),
    conversation: place.key,
    turn: open.turn,
    model,
    opening: { ...opening, ...defined({ context }) },
    say: open.say,
    answers: open.answers,
    ...toolsFor(walk, step),
    settings: settingsOf(walk, step, open),
    ...defined({ compaction: open.compaction }),
    tokensBefore: tokensOf(open.usage),
    ...heldIn(walk, strand, isChosenByModel(walk, step, model)),
    ...secretsOf(walk),
    ...(walk.input.env === undefined ? {} : { reach: { env: secretsNamed(step) } }),
  };
  return { effect, unresolved };
}

/** A turn starts no process; its pictures are files of the folder that its step works in. */
function heldIn(walk: Walk, strand: Strand, byModel: boolean): Pick<TurnEffect, 'confinement'> {
  const root = rootAt(walk, strand);
  if (root === undefined && !byModel) return {};
  return { confinement: { ...(byModel ? { byModel } : {}), ...defined({ root }) } };
}

/** Whether a model named the model: it brought the definition, or the inputs of a person's. */
function isChosenByModel({ input: { limits } }: Walk, step: LlmStep, model: string): boolean {
  const { brought } = limits;
  return brought !== undefined && (brought.tools !== undefined || model !== (step.model ?? 'auto'));
}

/** What a conversation begins with goes out with its first turn, and is rows from then on. */
export function turnRequest(effect: TurnEffect): TurnRequest {
  const { conversation, turn, model, opening, say, answers, tools, highlighted, settings, tokensBefore, compaction } =
    effect;
  return {
    conversation,
    turn,
    model,
    say,
    answers,
    tools,
    ...defined({ highlighted }),
    settings,
    tokensBefore,
    ...defined({ compaction }),
    ...(turn === 1 ? { opening } : {}),
  };
}

function openingOf(step: LlmStep, told: ToldTexts, reader: Reader): Opening {
  const texts = {
    ...(step.system === undefined ? {} : { system: told.text(step.system) }),
    messages: (step.messages ?? []).map(({ role, content }) => ({ role, text: told.text(content) })),
    ...(step.prompt === undefined ? {} : { prompt: told.text(step.prompt) }),
  };
  for (const image of step.images ?? []) for (const found of imagesIn(reader.value(image))) told.keep(found);
  return { ...texts, images: told.pictures };
}

/** What stands in `images` is meant to be a picture, whatever its name. */
function imagesIn(value: Json): FoundPicture[] {
  const pictures = picturesOf(value);
  if (pictures.length > 0)
    return pictures.map((found) => (typeof found === 'object' && 'mention' in found ? found.mention : found));
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  return isJsonObject(value) && typeof value['path'] === 'string' ? [value['path']] : [];
}

function settingsOf(walk: Walk, step: LlmStep, { repairs, turn, finalFrom, checks = 0 }: ModelFrame): TurnSettings {
  const { temperature, maxTokens, schema, parseToolCalls, autoCompact, stopWhen } = step;
  const thinking = effortOf(walk, step, offered(walk, step));
  const isFinal = repairs > 0 || checks > 0 || turn >= turnsMax(step) || finalFrom !== undefined;
  return {
    ...defined({ temperature, maxTokens, thinking, schema }),
    ...(parseToolCalls === true ? { parseToolCalls } : {}),
    ...(isFinal ? { isFinal } : {}),
    ...(autoCompact === undefined || autoCompact === true ? {} : { autoCompact: compactionAsked(autoCompact) }),
    ...(stopWhen === undefined ? {} : { keepsText: true as const }),
  };
}

function compactionAsked(asked: Exclude<LlmStep['autoCompact'], true | undefined>): AutoCompact | false {
  if (asked === false) return false;
  const { threshold, strategy } = asked;
  return defined({ threshold, strategy });
}

/** The definition's own `tools` points some out, and takes none away. */
function toolsFor(walk: Walk, step: LlmStep): Pick<TurnEffect, 'tools' | 'highlighted'> {
  const tools = offered(walk, step);
  const highlighted = (walk.input.definition.tools ?? []).filter((name) => tools.includes(name));
  return { tools, ...(highlighted.length === 0 ? {} : { highlighted }) };
}

/** Why the model may not call this, in words for the model; null where it may. */
export function misuseOf(walk: Walk, step: LlmStep, call: { name: string; invalid?: string }): string | null {
  const tools = offered(walk, step);
  if (!tools.includes(call.name)) {
    const known =
      findCommand(walk.input.catalogue, call.name) === undefined ? 'There is no' : 'This step may not call the';
    const finding = call.name === '' ? 'The call names no tool.' : `${known} tool "${call.name}".`;
    return `${finding} ${tools.length === 0 ? 'There are no tools here: answer in text.' : `The tools are: ${tools.join(', ')}.`}`;
  }
  return call.invalid === undefined
    ? null
    : `The arguments of "${call.name}" are not a whole JSON object. Call it again with one.`;
}

/** What a model calls: arguments are data, and no reference in them is resolved. */
export function callEffect(
  walk: Walk,
  strand: Strand,
  step: CommandStep,
  at: { place: Place; timeoutMs: number; call: CallPlace; asking: LlmStep },
): CommandEffect {
  return withRights(walk, {
    type: 'command',
    command: step.command,
    params: step.params ?? {},
    key: at.place.key,
    label: step.command,
    timeoutMs: at.timeoutMs,
    call: at.call,
    confinement: { ...confinementOf(walk, strand, step).confinement, byModel: true },
    ...secretsOf(walk),
    ...reachOfCall(walk, at.asking, step.command),
  });
}
