/** From an action step and the names in scope to the effect the host is asked for. */
import { entryOf, startsRuns, type Catalogue, type Permission } from '../language/catalogue.ts';
import { neededInputs, startValues } from '../language/inputs/declared-inputs.ts';
import type { FailureInfo } from '../language/failure.ts';
import { permissionOf, type Confinement } from '../language/permissions.ts';
import { isLookedAt } from '../language/policy/judge-policy.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type {
  ApprovalStep,
  CommandStep,
  Definition,
  EmitStep,
  SentinelStep,
  ShellStep,
  Step,
  WatchStep,
} from '../language/model.ts';
import { joinWords, sleepWords } from '../language/graph/step-label.ts';
import { textOf } from '../language/expression/scope.ts';
import type { Strand } from './host.ts';
import { draftHanded } from './drafts.ts';
import type { CommandEffect, Effect, RunLimits, Variables, Place } from './effect.ts';
import { limitsLeft, timeoutOf } from './limits.ts';
import { unsetFor } from './names-set.ts';
import { namesAt, paramsOf, Reader } from './names.ts';
import { isTimed } from './outcome.ts';
import { asDrafted, inheritanceOf, reachOf } from './reach.ts';
import { previewOf } from '../language/events/preview.ts';
import type { Approvers } from '../language/events/question.ts';
import { defined } from '../language/defined.ts';
import { isToldOfUnknown } from '../language/unknown-outcomes.ts';
import { withoutResults } from './results.ts';
import { refusedAction } from './judges.ts';
import { record, type Walk } from './walk-state.ts';
import { retryOf } from './retries.ts';
import { nestedRoot, rootAt } from './workspace.ts';

/** Of `onError: "retry"` alone; its pauses are the usual ones (attempts.ts). */

/** `refused`: what may not be done, where the failure is that. */
export type Built =
  { effect: Effect; unresolved: string[] } | { failure: FailureInfo; unresolved: string[]; refused?: Effect };

/** What keeps a step out of a segment, which can neither ask nor look at what an action would do. */
export type AskingLimits = Pick<RunLimits, 'requireApproval' | 'policies'>;

/** Quick steps can share a segment; one with retries cannot, because nothing can be waited for between its attempts there. */
export function isQuick(step: Step, catalogue: Catalogue, limits: AskingLimits = {}): boolean {
  if (isAskedAbout(step, catalogue, limits)) return false;
  if (step.type === 'emit') return retryOf(step) === null;
  return step.type === 'command' && retryOf(step) === null && entryOf(catalogue, step.command).speed === 'quick';
}

/**
 * Shell steps that a segment begins, too, each claimed before: what does not end soon goes on in an activity of its own,
 * with the same process.
 */
export function isBegunInSegment(step: Step, catalogue: Catalogue, limits: AskingLimits = {}): boolean {
  return step.type === 'shell' && retryOf(step) === null && !isAskedAbout(step, catalogue, limits);
}

/** What a segment walks. */
export const isWalkedInSegment = (step: Step, catalogue: Catalogue, limits: AskingLimits = {}): boolean =>
  isQuick(step, catalogue, limits) || isBegunInSegment(step, catalogue, limits);

/**
 * What a model calls, and its turns' activity can perform: a command that nobody is asked about, of no other queue, and
 * that acts on no other run.
 */
export function isCalledInTurn(step: Step, catalogue: Catalogue, limits: AskingLimits = {}): boolean {
  if (isQuick(step, catalogue, limits)) return true;
  if (step.type !== 'command' || isAskedAbout(step, catalogue, limits)) return false;
  const { queue, otherRuns } = entryOf(catalogue, step.command);
  return queue === undefined && otherRuns === undefined;
}

/** An action that needs approval waits for it, which a segment cannot. */
function isAskedAbout(step: Step, catalogue: Catalogue, { requireApproval, policies }: AskingLimits): boolean {
  if (policies !== undefined && isLookedAt(policies, catalogue, step)) return true;
  const permission = requireApproval === undefined ? null : permissionOf(catalogue, step);
  return (
    requireApproval !== undefined &&
    permission !== null &&
    (requireApproval as readonly Permission[]).includes(permission)
  );
}

/** What a person reads for a step before its references are known. */
export function labelOf(step: Step): string {
  if ('name' in step && step.name !== undefined) return step.name;
  switch (step.type) {
    case 'shell':
      return previewOf([step.command, ...(step.args ?? []).map((arg) => textOf(arg))].join(' '));
    case 'command':
      return step.command;
    case 'emit':
      return step.event;
    case 'join':
      return previewOf(joinWords(step));
    case 'sleep':
      return previewOf(sleepWords(step));
    case 'set':
      return previewOf(Object.keys(step.values).join(', '));
    case 'condition':
      return previewOf(step.check);
    case 'sentinel':
      return '$ref' in step.definition ? step.definition.$ref : step.definition.name;
    case 'loop':
      return step.loop.type;
    case 'parallel':
      return step.over === undefined ? `${step.branches?.length ?? 0} branches` : `each ${step.as} of ${step.over}`;
    case 'llm':
      return step.model ?? 'auto';
    case 'approval':
    case 'fail':
      return previewOf(step.message);
    case 'watch':
      return step.event ?? step.executionId ?? 'watch';
    default:
      return step satisfies never;
  }
}

export function effectOf(
  walk: Walk,
  strand: Strand,
  step: ShellStep | CommandStep | EmitStep | SentinelStep | WatchStep,
  place: Place,
  edit: JsonObject = {},
): Built {
  const reader = new Reader(namesAt(walk, strand, place.passes, place.path));
  const frame = {
    key: place.key,
    label: labelOf(step),
    timeoutMs: timeoutOf(walk, step, strand),
    ...confinementOf(walk, strand, step),
    ...secretsOf(walk),
  };
  const built = ((): Effect | FailureInfo => {
    switch (step.type) {
      case 'shell':
        return shellEffect(step, reader, frame);
      case 'command':
        return commandEffect(walk, step, reader, frame);
      case 'emit':
        return {
          type: 'emit',
          event: reader.text(step.event),
          data: step.data === undefined ? null : reader.value(step.data),
          ...frame,
        };
      case 'sentinel':
        return nestedEffect(walk, strand, step, reader, frame, place);
      case 'watch':
        return watchEffect(walk, step, reader, frame);
      default:
        return step satisfies never;
    }
  })();
  const unresolved = [...reader.unresolved];
  if ('code' in built) return { failure: built, unresolved };
  const effect = edited(built, edit);
  const faulty = faultyAction(walk, place, reader, unresolved);
  if (faulty === null) return { effect, unresolved };
  const refused = refusedAction(walk, strand, effect);
  return refused === null ? faulty : { failure: refused, unresolved, refused: effect };
}

/** What is wrong with how an action is written, where the names in scope are. */
function faultyAction(
  walk: Walk,
  { key }: Place,
  { fault, missing }: Reader,
  unresolved: string[],
): { failure: FailureInfo; unresolved: string[] } | null {
  if (fault) return { failure: { ...fault, message: `${key}: ${fault.message}`, retryable: false }, unresolved };
  // The command would be another one, strict or not.
  if (missing.size > 0)
    return {
      failure: missingFailure(key, [...missing]),
      unresolved: unresolved.filter((name) => !missing.has(name)),
    };
  if (walk.input.definition.strict === true && unresolved.length > 0)
    return { failure: strictFailure(key, unresolved), unresolved: [] };
  return null;
}

/** What a persona made of an action. */
export function edited(effect: Effect, changes: JsonObject): Effect {
  if (effect.type !== 'command' || changes['params'] === undefined) return { ...effect, ...changes };
  // Other parameters may mean other definitions by the same names, and other things of the project.
  const { library: _library, resolved: _resolved, ...rest } = effect;
  return { ...rest, ...changes };
}

export const secretsOf = ({ input: { env } }: Walk): { secrets?: { [name: string]: string } } =>
  env === undefined ? {} : { secrets: env };

/** Quick commands start no process. */
export function confinementOf(
  walk: Walk,
  strand: Pick<Strand, 'own' | 'outer'>,
  step: Step,
): { confinement?: Confinement } {
  const { mode, memoryMb, brought, requireApproval = [] } = walk.input.limits;
  const byModel = brought === undefined ? {} : { byModel: true as const };
  const processes = isQuick(step, walk.input.catalogue)
    ? {}
    : {
        ...defined({ mode, memoryMb }),
        ...(step.type === 'command' && requireApproval.includes('shell') ? { asksForPrograms: true as const } : {}),
      };
  const confinement: Confinement = { ...processes, ...byModel, ...defined({ root: rootAt(walk, strand) }) };
  return Object.keys(confinement).length === 0 ? {} : { confinement };
}

export function strictFailure(key: string, unresolved: readonly string[]): FailureInfo {
  return unresolvedFailure(key, unresolved, ', or remove "strict"');
}

/** Of a step that cannot do anything without the value, whether the definition is strict or not. */
export function unresolvedFailure(key: string, unresolved: readonly string[], otherwise = ''): FailureInfo {
  const names = unresolved.join(', ');
  const [has, it] = unresolved.length === 1 ? ['has', 'it'] : ['have', 'them'];
  const message = `${key}: ${names} ${has} no value here; set ${it} before this step${otherwise}`;
  return { code: 'UNRESOLVED_REFERENCE', message, retryable: false };
}

/**
 * Names without a value that stand under an operator or in a call of a check: the check would decide upon an empty
 * text, or upon no number. The run is warned; a strict definition fails.
 */
export function unknownInCheck(walk: Walk, key: string, at: string, lost: readonly string[] = []): FailureInfo | null {
  if (lost.length === 0) return null;
  if (walk.input.definition.strict === true) return strictFailure(at, lost);
  for (const name of lost)
    record(walk, { type: 'warning', key, code: 'UNRESOLVED_REFERENCE', message: `${at}: "${name}" has no value here` });
  return null;
}

/** Of a command line, where a name without braces might be the shell's own. */
function missingFailure(key: string, missing: readonly string[]): FailureInfo {
  const written = (missing[0] ?? '').replace(/^\$|^\{\{\s*|\s*\}\}$/g, '');
  const shells = /^\w+$/.test(written) ? `, or write \${${written}} if the shell's own variable is meant` : '';
  return unresolvedFailure(key, missing, `, or give it a default: {{${written} || 'text'}}${shells}`);
}

function watchEffect(walk: Walk, step: WatchStep, reader: Reader, frame: EffectFrame): Effect {
  const { rules, until } = step;
  const written = reader.value(step.executionId ?? '');
  // The whole result of the step that started the process will do.
  const executionId = textOf(isJsonObject(written) ? (written['executionId'] ?? null) : written);
  const after = walk.position.watched?.[executionId];
  return {
    type: 'watch',
    request: {
      executionId,
      ...defined({ rules, until }),
      ...(after === undefined || until === undefined || until === 'finished' ? {} : { after }),
    },
    ...frame,
  };
}

/** The pattern of an event to wait for, with the names in scope. */
export function readEventPattern(
  walk: Walk,
  strand: Strand,
  written: string,
  { key, passes, path }: Place,
): { pattern: string; failure?: FailureInfo } {
  const reader = new Reader(namesAt(walk, strand, passes, path));
  const pattern = reader.text(written);
  if (reader.fault)
    return { pattern, failure: { ...reader.fault, message: `${key}: ${reader.fault.message}`, retryable: false } };
  if (reader.unresolved.size === 0) return { pattern };
  // Anywhere else a warning would do; here the run would wait for an event of another name.
  const message = `${key}: the event's name needs ${[...reader.unresolved].join(', ')}, which has no value here; set it before this step`;
  return { pattern, failure: { code: 'UNRESOLVED_REFERENCE', message, retryable: false } };
}

type EffectFrame = Pick<Effect, 'key' | 'label' | 'timeoutMs' | 'confinement' | 'secrets'>;

function shellEffect(step: ShellStep, reader: Reader, frame: EffectFrame): Effect {
  const program = step.args !== undefined;
  const rendered = program
    ? { line: reader.text(step.command), env: {}, files: {} }
    : reader.shellLine(step.command, Object.keys(step.env ?? {}));
  const env: { [name: string]: string } = { ...rendered.env };
  for (const [name, value] of Object.entries(step.env ?? {})) env[name] = reader.asText(value);
  return {
    type: 'shell',
    command: rendered.line,
    env,
    ...(program ? { args: (step.args ?? []).map((arg) => reader.asText(arg)) } : {}),
    ...(Object.keys(rendered.files).length > 0 ? { files: rendered.files } : {}),
    ...(step.cwd === undefined ? {} : { cwd: reader.text(step.cwd) }),
    ...(step.stdin === undefined ? {} : { stdin: reader.asText(step.stdin) }),
    ...(isToldOfUnknown(step) ? { onUnknown: 'tell' } : {}),
    ...frame,
  };
}

function commandEffect(walk: Walk, step: CommandStep, reader: Reader, frame: EffectFrame): Effect {
  const { command } = step;
  const params = paramsOf(walk.input, step, reader);
  const effect: CommandEffect = { type: 'command', command, params, ...frame, ...reachOf(walk, step) };
  const hands = draftHanded(walk, step, params);
  return withRights(walk, hands === null ? effect : asDrafted(effect, hands));
}

/** One that starts runs hands on what these inherit. */
export function withRights(walk: Walk, effect: CommandEffect): CommandEffect {
  if (!startsRuns(entryOf(walk.input.catalogue, effect.command))) return effect;
  return { ...effect, starts: inheritanceOf(walk, effect) };
}

function nestedEffect(
  walk: Walk,
  strand: Strand,
  step: SentinelStep,
  reader: Reader,
  frame: EffectFrame,
  place: Place,
): Effect | FailureInfo {
  const definition = resolveDefinition(walk, step.definition);
  if (definition === null) {
    const name = '$ref' in step.definition ? step.definition.$ref : '';
    const message = `${place.key}: no definition is named "${name}"; the run was started without it`;
    return { code: 'UNKNOWN_DEFINITION', message, retryable: false };
  }
  const base = { ...startValues(definition), ...visible(walk, strand), ...reader.object(step.inputs) };
  const missing = neededInputs(definition.inputSchema ?? {}).filter((name) => !Object.hasOwn(base, name));
  if (missing.length > 0) return inputsMissing(definition.name, missing, place.key);
  const unset = unsetFor(walk.input, definition, base);
  return {
    type: 'sentinel',
    definition,
    base,
    ...(unset.length === 0 ? {} : { unset }),
    wait: step.await !== false,
    limits: limitsLeft(walk, isTimed(step) ? undefined : step.timeoutMs, strand, step.await !== false),
    depth: walk.input.depth + 1,
    ...nestedRoot(walk, strand, step, place, definition.name),
    ...frame,
  };
}

function inputsMissing(name: string, missing: readonly string[], key: string): FailureInfo {
  const names = missing.map((one) => `"${one}"`).join(', ');
  const message = `${key}: "${name}" needs ${names}; set it before this step, or give it in "inputs" of the step`;
  return { code: 'INPUT_REFUSED', message, retryable: false };
}

function resolveDefinition(walk: Walk, definition: SentinelStep['definition']): Definition | null {
  if (!('$ref' in definition)) return definition;
  const name = definition.$ref;
  return Object.hasOwn(walk.input.library, name) ? (walk.input.library[name] ?? null) : null;
}

/** All variables a place can see, nearest scope winning. */
export function visible(walk: Walk, strand: Strand): Variables {
  return withoutResults(Object.assign({}, walk.input.base, ...strand.outer.toReversed(), strand.own) as Variables);
}

export type ReadApproval =
  | { message: string; show: Json; assignee: string | undefined; approvers: Approvers | undefined; label: string }
  | { failure: FailureInfo; label: string };

/** What an approval step asks, with the names in scope. */
export function readApproval(walk: Walk, strand: Strand, step: ApprovalStep, place: Place): ReadApproval {
  const reader = new Reader(namesAt(walk, strand, place.passes, place.path));
  const message = reader.text(step.message);
  const show = step.show === undefined ? null : reader.value(step.show);
  const assignee = step.assignee === undefined ? undefined : reader.text(step.assignee);
  const approvers = step.approvers && {
    of: [...new Set(step.approvers.of.map((one) => reader.text(one)))],
    atLeast: step.approvers.atLeast ?? 1,
  };
  const label = step.name ?? previewOf(message);
  if (reader.fault)
    return { failure: { ...reader.fault, message: `${place.key}: ${reader.fault.message}`, retryable: false }, label };
  if (walk.input.definition.strict === true && reader.unresolved.size > 0)
    return { failure: strictFailure(place.key, [...reader.unresolved]), label };
  return { message, show, assignee, approvers, label };
}
