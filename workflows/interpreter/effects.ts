/** From a leaf step and the names in scope to the effect the host is asked for. */
import { findCommand } from '../../language/commands.ts';
import { nestingSentinelsMax } from '../../language/limits.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { interpolateText, interpolateValue } from '../../language/interpolation.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { CommandStep, Definition, EmitStep, Retry, SentinelStep, ShellStep, Step } from '../../language/model.ts';
import { textOf, type Fault, type ScopeReader } from '../../language/scope.ts';
import { renderShellLine } from '../../language/shell-line.ts';
import type { Effect, Strand } from './host.ts';
import { limitsLeft, remainingMs, timeoutOf } from './limits.ts';
import { namesAt } from './names.ts';
import { previewOf } from './preview.ts';
import type { Variables } from './position.ts';
import type { Place, Walk } from './ledger.ts';

const usualRetry: Retry = { attempts: 3, backoffMs: 1000, factor: 2 };

export type Built = { effect: Effect; unresolved: string[] } | { failure: FailureInfo; unresolved: string[] };

/** Quick steps can share a segment; a step with retries is an activity of its own, which retries it. */
export function isQuick(step: Step): boolean {
  if (step.type === 'emit') return retryOf(step) === null;
  return step.type === 'command' && retryOf(step) === null && findCommand(step.command)?.speed === 'quick';
}

function retryOf(step: Step): Retry | null {
  return step.retry ?? (step.onError === 'retry' ? usualRetry : null);
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
    case 'condition':
      return previewOf(step.check);
    case 'sentinel':
      return '$ref' in step.definition ? step.definition.$ref : step.definition.name;
    case 'loop':
      return step.loop.type;
    case 'parallel':
      return `${step.branches.length} branches`;
    case 'llm':
      return step.model ?? 'auto';
    case 'approval':
      return previewOf(step.message);
    case 'watch':
      return step.event ?? step.executionId ?? 'watch';
    default:
      return step satisfies never;
  }
}

/** Collects what the references of one step ran into. */
class Reader {
  readonly unresolved = new Set<string>();
  fault: Fault | undefined;
  private readonly scope: ScopeReader;

  constructor(scope: ScopeReader) {
    this.scope = scope;
  }

  private note(result: { unresolved: string[]; faults: Fault[] }): void {
    for (const name of result.unresolved) this.unresolved.add(name);
    this.fault ??= result.faults[0];
  }

  value(raw: Json): Json {
    const result = interpolateValue(raw, this.scope);
    this.note(result);
    return result.value;
  }

  object(raw: JsonObject | undefined): JsonObject {
    const value = this.value(raw ?? {});
    return isJsonObject(value) ? value : {};
  }

  text(raw: string): string {
    const result = interpolateText(raw, this.scope);
    this.note(result);
    return result.text;
  }

  shellLine(raw: string): Omit<ReturnType<typeof renderShellLine>, 'unresolved' | 'faults'> {
    // A name that does not resolve is left to the shell; what is named here is a field that a known variable lacks.
    const { line, env, files, unresolved, faults } = renderShellLine(raw, this.scope);
    this.note({ unresolved, faults });
    return { line, env, files };
  }
}

export function effectOf(
  walk: Walk,
  strand: Strand,
  step: ShellStep | CommandStep | EmitStep | SentinelStep,
  place: Place,
): Built {
  const reader = new Reader(namesAt(walk, strand, place.passes));
  const frame = { key: place.key, label: labelOf(step), timeoutMs: timeoutOf(walk, step), leftMs: remainingMs(walk), retry: retryOf(step) };
  const effect = ((): Effect | FailureInfo => {
    switch (step.type) {
      case 'shell':
        return shellEffect(step, reader, frame);
      case 'command':
        return { type: 'command', command: step.command, params: paramsOf(step, reader), ...frame };
      case 'emit':
        return { type: 'emit', event: reader.text(step.event), data: step.data === undefined ? null : reader.value(step.data), ...frame };
      case 'sentinel':
        return nestedEffect(walk, strand, step, reader, frame, place);
      default:
        return step satisfies never;
    }
  })();
  const unresolved = [...reader.unresolved];
  if ('code' in effect) return { failure: effect, unresolved };
  if (reader.fault) return { failure: { ...reader.fault, message: `${place.key}: ${reader.fault.message}`, retryable: false }, unresolved };
  if (walk.input.definition.strict === true && unresolved.length > 0) return { failure: strictFailure(place.key, unresolved), unresolved: [] };
  return { effect, unresolved };
}

function strictFailure(key: string, unresolved: readonly string[]): FailureInfo {
  const names = unresolved.join(', ');
  const message = `${key}: ${names} ${unresolved.length === 1 ? 'has' : 'have'} no value here; set it before this step, or remove "strict"`;
  return { code: 'UNRESOLVED_REFERENCE', message, retryable: false };
}

/** A definition handed to `sentinel/run` is a program of its own: its references are not this run's. */
function paramsOf(step: CommandStep, reader: Reader): JsonObject {
  const { params = {} } = step;
  if (step.command !== 'sentinel/run') return reader.object(params);
  const programs = Object.entries(params).filter(([name, value]) => ['definition', 'steps'].includes(name) && typeof value !== 'string');
  const rest = Object.entries(params).filter((entry) => !programs.some(([name]) => name === entry[0]));
  return { ...reader.object(Object.fromEntries(rest)), ...Object.fromEntries(programs) };
}

type EffectFrame = Pick<Effect, 'key' | 'label' | 'timeoutMs' | 'leftMs' | 'retry'>;

function shellEffect(step: ShellStep, reader: Reader, frame: EffectFrame): Effect {
  const program = step.args !== undefined;
  const rendered = program ? { line: reader.text(step.command), env: {}, files: {} } : reader.shellLine(step.command);
  const env: { [name: string]: string } = { ...rendered.env };
  for (const [name, value] of Object.entries(step.env ?? {})) env[name] = textOf(reader.value(value));
  return {
    type: 'shell',
    command: rendered.line,
    env,
    ...(program ? { args: (step.args ?? []).map((arg) => textOf(reader.value(arg))) } : {}),
    ...(Object.keys(rendered.files).length > 0 ? { files: rendered.files } : {}),
    ...(step.cwd === undefined ? {} : { cwd: reader.text(step.cwd) }),
    ...(step.stdin === undefined ? {} : { stdin: textOf(reader.value(step.stdin)) }),
    ...frame,
  };
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
  const depthMax = walk.input.limits.nestingDepth ?? nestingSentinelsMax;
  if (walk.input.depth >= depthMax) {
    const message = `${place.key}: sentinels are nested ${walk.input.depth} deep, and ${depthMax} is the limit`;
    return { code: 'NESTING_TOO_DEEP', message, retryable: false };
  }
  return {
    type: 'sentinel',
    definition,
    base: { ...definition.inputs, ...visible(walk, strand), ...reader.object(step.inputs) },
    wait: step.await !== false,
    limits: limitsLeft(walk, step.timeoutMs),
    depth: walk.input.depth + 1,
    ...frame,
  };
}

function resolveDefinition(walk: Walk, definition: SentinelStep['definition']): Definition | null {
  if (!('$ref' in definition)) return definition;
  const name = definition.$ref;
  return Object.hasOwn(walk.input.library, name) ? (walk.input.library[name] ?? null) : null;
}

/** All variables a place can see, nearest scope winning. */
export function visible(walk: Walk, strand: Strand): Variables {
  return Object.assign({}, walk.input.base, ...strand.outer.toReversed(), strand.own) as Variables;
}
