/**
 * The script of a simulated run: what each effect answers, and who interrupts the run where.
 *
 * A reply is found by the first pattern that fits the effect:
 * - the step's key, where `*` is any text within one run and `**` any text; keys of nested runs
 *   follow their parent's: `steps.0@1/steps.2@1`; attempts (`steps.0#2@1`) and revisions
 *   (`steps.0~1@1`) need no mention;
 * - the step's name, or without one its label;
 * - `shell`, `emit`, `sentinel`, `llm` or a command's name;
 * - `shell LINE`, `emit EVENT`, `sentinel NAME`, `command NAME`, `llm PROMPT`, where `*` is any text.
 * A turn of a model is also found by the key of its step, so that a list answers turn after turn; an object with
 * `calls`, `stopReason`, `fault` or `compacted` is a turn that came to that, and any other value is the model's reply.
 * A list answers one call after another and then repeats its last.
 */
import { isJsonObject, type Json } from '../../language/json.ts';
import { replyValue } from '../../language/models/reply-value.ts';
import type { Choice } from '../../language/events/question.ts';
import type { Counts } from '../approvers.ts';
import type { EditRequest } from '../edits.ts';
import type { TellRequest } from '../models/telling.ts';
import type { HeldGroup } from './event-board.ts';
import type { Effect, Reply, Usage } from '../effect.ts';

export interface ScriptedReply {
  ok: boolean;
  value?: Json;
  failure?: { code: string; message?: string; retryable?: boolean; retryAfterMs?: number };
  tookMs?: number;
  /** What it cost. */
  usage?: Partial<Usage>;
}

/** `before` a step's gate, or `during` its effect, so long `afterMs` it began; a pause ends by itself after `forMs`. */
export interface Interruption {
  at: string;
  when?: 'before' | 'during';
  /** `answer`: the step's question is approved, asked or not. */
  do: 'pause' | 'stop' | 'cancel' | 'answer' | 'edit' | 'tell';
  /** Of the run that the step belongs to, made for the revision that it is at. */
  edit?: Partial<EditRequest> & Pick<EditRequest, 'op' | 'path'>;
  /** What the model of a step that is under way is told. */
  tell?: Partial<TellRequest> & Pick<TellRequest, 'text'>;
  afterMs?: number;
  forMs?: number;
}

/** An answer, so long after the question; later ones find it settled. */
export interface ScriptedAnswer {
  choice: Choice;
  note?: string;
  data?: Json;
  by?: string;
  counts?: Counts;
  afterMs?: number;
}

export interface ScriptedEvent {
  name: string;
  data?: Json;
  afterMs?: number;
}

export interface ScriptSource {
  replies?: { [pattern: string]: ScriptedReply | ScriptedReply[] };
  /** Answers by the step's key where `replies` is silent. */
  answer?: (key: string) => ScriptedReply;
  interruptions?: Interruption[];
  /** How each run held at a limit is answered, in order; `resume` when the list is spent. */
  holds?: ('resume' | 'stop' | 'cancel')[];
  /** What others publish, so long after the run began. */
  events?: ScriptedEvent[];
  /** Groups that other runs hold as the run begins, by name. */
  groups?: { [group: string]: HeldGroup };
  /** The run takes places of its persona: how long, in milliseconds, others have them all, each time that it asks. */
  places?: number[];
  /** How long, in milliseconds, until its persona has budget again, each time that a run asks. */
  days?: number[];
  /** The event that started the run. */
  cause?: Omit<ScriptedEvent, 'afterMs'>;
  /** Answers by the question's id or a pattern, as with `replies`; an empty list: nobody answers it. */
  answers?: { [pattern: string]: ScriptedAnswer | ScriptedAnswer[] };
}

/** What a scripted host asks before it does anything. */
export interface Answers {
  /** The reply of an effect, by the key of its run and step; null where there is none of its own. */
  find(key: string, effect: Effect): ScriptedReply | null;
  interruptionsAt(key: string, when: 'before' | 'during'): Interruption[];
  /** For how many ms the host holds back the step before its gate, while other branches go on; 0: not at all. */
  lateAtGate?(key: string): number;
  nextHold(): 'resume' | 'stop' | 'cancel';
  /** What comes in answer to a question, by the key of its run and its id. */
  answersTo?(key: string): ScriptedAnswer[];
}

const usualShell = { exitCode: 0, exit_code: 0, stdout: '', stderr: '', output: '', success: true, durationMs: 0 };

export class Script implements Answers {
  private readonly source: ScriptSource;
  private readonly calls = new Map<string, number>();
  private readonly asked = new Set<string>();
  private readonly fired = new Set<Interruption>();
  private readonly holds: ('resume' | 'stop' | 'cancel')[];

  constructor(source: ScriptSource) {
    this.source = source;
    this.holds = [...(source.holds ?? [])];
  }

  /** The scripted reply of an effect, or null where the script is silent. */
  find(key: string, effect: Effect): ScriptedReply | null {
    const replies = this.source.replies ?? {};
    const pattern = Object.keys(replies).find((candidate) => fits(candidate, key, effect));
    const found = pattern === undefined ? undefined : replies[pattern];
    if (pattern === undefined || found === undefined)
      return effect.type === 'sentinel' ? null : (this.source.answer?.(key) ?? null);
    this.asked.add(pattern);
    if (!Array.isArray(found)) return found;
    const call = this.calls.get(pattern) ?? 0;
    this.calls.set(pattern, call + 1);
    return found[Math.min(call, found.length - 1)] ?? null;
  }

  /** Patterns of replies that no effect asked for. */
  unused(): string[] {
    return Object.keys(this.source.replies ?? {}).filter((pattern) => !this.asked.has(pattern));
  }

  interruptionsAt(key: string, when: 'before' | 'during'): Interruption[] {
    const due = (this.source.interruptions ?? []).filter(
      (entry) => entry.at === key && (entry.when ?? 'before') === when && !this.fired.has(entry),
    );
    for (const entry of due) this.fired.add(entry);
    return due;
  }

  answersTo(key: string): ScriptedAnswer[] {
    const { answers = {} } = this.source;
    const pattern = Object.keys(answers).find((candidate) => candidate === key || isAt(candidate, key));
    const found = pattern === undefined ? undefined : answers[pattern];
    if (found === undefined) return [];
    return Array.isArray(found) ? found : [found];
  }

  nextHold(): 'resume' | 'stop' | 'cancel' {
    return this.holds.shift() ?? 'resume';
  }
}

function fits(pattern: string, key: string, effect: Effect): boolean {
  if (pattern === key || pattern === effect.label) return true;
  const type = effect.type === 'turn' ? 'llm' : effect.type;
  if (pattern === (effect.type === 'command' ? effect.command : type)) return true;
  const said = `${type} `;
  if (pattern.startsWith(said)) return isLike(pattern.slice(said.length), deedOf(effect), '[^]*');
  return isAt(pattern, key) || (effect.type === 'turn' && isAt(pattern, key.slice(0, key.lastIndexOf('/'))));
}

/** A key fits a pattern that says nothing of attempts and revisions in each. */
function isAt(pattern: string, key: string): boolean {
  return isLike(pattern, key, '[^/]*') || isLike(pattern, withoutMarks(key), '[^/]*');
}

/** The key of a step, or the id of a question, in any attempt and revision. */
export const withoutMarks = (key: string): string => key.replaceAll(/~\d+|#\d+(?:\.\d+(?=\/|$))?/g, '');

/** What an effect does, as a pattern can name it; a shell's line has its values filled in. */
export function deedOf(effect: Effect): string {
  switch (effect.type) {
    case 'shell': {
      const { command, args = [], env = {} } = effect;
      const line = command.replaceAll(/"?\$\{(SENTINEL_\d+)\}"?/g, (whole, name: string) => filledIn(whole, env[name]));
      return [line, ...args].join(' ');
    }
    case 'command':
      return effect.command;
    case 'emit':
      return effect.event;
    case 'sentinel':
      return effect.definition.name;
    case 'watch':
      return effect.request.executionId;
    case 'turn':
      return effect.opening.prompt ?? effect.opening.system ?? '';
    default:
      return effect satisfies never;
  }
}

/** The quotes that were put around a reference go with it; those of the author stay. */
function filledIn(written: string, value: string | undefined): string {
  if (value === undefined) return written;
  const isQuoted = written.startsWith('"') && written.endsWith('"');
  return isQuoted ? value : `${written.startsWith('"') ? '"' : ''}${value}${written.endsWith('"') ? '"' : ''}`;
}

function isLike(pattern: string, text: string, star: string): boolean {
  const source = pattern
    .split('**')
    .map((part) => part.split('*').map(escaped).join(star))
    .join('[^]*');
  return new RegExp(`^${source}$`).test(text);
}

const escaped = (text: string): string => text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);

export function replyTo(effect: Effect, scripted: ScriptedReply | null): Reply {
  const cost = scripted?.usage === undefined ? {} : { usage: scripted.usage };
  if (scripted?.ok === false) {
    const { code = 'SCRIPTED', message = 'it failed', retryable = false, retryAfterMs } = scripted.failure ?? {};
    const details = retryAfterMs === undefined ? {} : { details: { retryAfterMs } };
    return { ok: false, failure: { code, message: `${effect.key}: ${message}`, retryable, ...details }, ...cost };
  }
  return { ok: true, value: valueOf(effect, scripted?.value, scripted?.usage), ...cost };
}

function valueOf(effect: Effect, value: Json | undefined, usage?: Partial<Usage>): Json {
  switch (effect.type) {
    case 'shell':
      return isJsonObject(value) ? shellValue(value) : (value ?? usualShell);
    case 'emit':
      return value ?? { event: effect.event };
    case 'watch':
      return isJsonObject(value) ? watchValue(value) : (value ?? watchValue({}));
    case 'turn':
      return turnValue(value ?? '', usage);
    case 'command':
    case 'sentinel':
      return value ?? null;
    default:
      return effect satisfies never;
  }
}

function turnValue(value: Json, { tokens = 0, usd = 0 }: Partial<Usage> = {}): Json {
  const isOutcome =
    isJsonObject(value) && ['calls', 'stopReason', 'fault', 'compacted'].some((name) => Object.hasOwn(value, name));
  const said = isOutcome ? value : typeof value === 'string' ? { text: value } : { text: JSON.stringify(value) };
  const { calls: given = [], text = '' } = said;
  const calls = (Array.isArray(given) ? given : []).map((call, index): Json => {
    const named = isJsonObject(call) ? call : { name: call };
    return { id: `call-${index}`, input: {}, ...named };
  });
  return {
    text,
    value: typeof text === 'string' ? replyValue(text) : text,
    stopReason: calls.length > 0 ? 'tool-calls' : 'end',
    model: 'script',
    usage: { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false },
    usd,
    ...said,
    calls,
  };
}

function shellValue(value: { [name: string]: Json }): Json {
  const exitCode = value['exitCode'] ?? 0;
  return {
    ...usualShell,
    exitCode,
    exit_code: exitCode,
    output: value['stdout'] ?? '',
    success: exitCode === 0,
    ...value,
  };
}

/** Lines may be given as texts; a line with a rule is a match. */
function watchValue({ lines: given, ...rest }: { [name: string]: Json }): Json {
  const lines = (Array.isArray(given) ? given : []).map((line, index): Json => ({
    n: index + 1,
    stream: 'stdout',
    classification: 'info',
    at: 0,
    ...(isJsonObject(line) ? line : { line }),
  }));
  const matches = lines.filter((line) => isJsonObject(line) && line['rule'] !== undefined);
  const exitCode = rest['exitCode'] ?? 0;
  return { reason: 'finished', exitCode, success: exitCode === 0, lines, length: lines.length, matches, ...rest };
}
