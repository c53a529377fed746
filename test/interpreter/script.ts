/**
 * The script of a simulated run: what each effect answers, and who interrupts the run where.
 *
 * Replies are found by the step's key, by a pattern of keys (`*` is any text within one run, `**`
 * any text), or by `shell`, `emit`, `sentinel` or a command's name; a list answers one call after
 * another and then repeats its last. Keys of nested runs follow their parent's: `steps.0@1/steps.2@1`.
 */
import { isJsonObject, type Json } from '../../language/json.ts';
import type { Effect, Reply } from '../../workflows/interpreter/host.ts';

export interface ScriptedReply {
  ok: boolean;
  value?: Json;
  failure?: { code: string; message?: string; retryable?: boolean };
  tookMs?: number;
}

/** `before` a step's gate, or `during` its effect; a pause ends by itself after `forMs`. */
export interface Interruption {
  at: string;
  when?: 'before' | 'during';
  do: 'pause' | 'stop' | 'cancel';
  forMs?: number;
}

export interface ScriptSource {
  replies?: { [pattern: string]: ScriptedReply | ScriptedReply[] };
  /** Answers by the step's key where `replies` is silent. */
  answer?: (key: string) => ScriptedReply;
  interruptions?: Interruption[];
  /** How each run held at a limit is answered, in order; `resume` when the list is spent. */
  holds?: ('resume' | 'stop' | 'cancel')[];
}

const usualShell = { exitCode: 0, exit_code: 0, stdout: '', stderr: '', output: '', success: true, durationMs: 0 };

export class Script {
  private readonly source: ScriptSource;
  private readonly calls = new Map<string, number>();
  private readonly fired = new Set<Interruption>();
  private readonly holds: ('resume' | 'stop' | 'cancel')[];

  constructor(source: ScriptSource) {
    this.source = source;
    this.holds = [...(source.holds ?? [])];
  }

  /** The scripted reply of an effect, or null where the script is silent. */
  find(key: string, effect: Effect): ScriptedReply | null {
    const name = effect.type === 'command' ? effect.command : effect.type;
    const replies = this.source.replies ?? {};
    const pattern = Object.keys(replies).find((candidate) => candidate === name || matches(candidate, key));
    const found = pattern === undefined ? undefined : replies[pattern];
    if (pattern === undefined || found === undefined) return effect.type === 'sentinel' ? null : (this.source.answer?.(key) ?? null);
    if (!Array.isArray(found)) return found;
    const call = this.calls.get(pattern) ?? 0;
    this.calls.set(pattern, call + 1);
    return found[Math.min(call, found.length - 1)] ?? null;
  }

  interruptionsAt(key: string, when: 'before' | 'during'): Interruption[] {
    const due = (this.source.interruptions ?? []).filter(
      (entry) => entry.at === key && (entry.when ?? 'before') === when && !this.fired.has(entry),
    );
    for (const entry of due) this.fired.add(entry);
    return due;
  }

  nextHold(): 'resume' | 'stop' | 'cancel' {
    return this.holds.shift() ?? 'resume';
  }
}

function matches(pattern: string, key: string): boolean {
  if (pattern === key) return true;
  const source = pattern
    .split('**')
    .map((part) => part.split('*').map(escaped).join('[^/]*'))
    .join('.*');
  return new RegExp(`^${source}$`).test(key);
}

const escaped = (text: string): string => text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);

export function replyTo(effect: Effect, scripted: ScriptedReply | null): Reply {
  if (scripted?.ok === false) {
    const { code = 'SCRIPTED', message = 'it failed', retryable = false } = scripted.failure ?? {};
    return { ok: false, failure: { code, message: `${effect.key}: ${message}`, retryable } };
  }
  return { ok: true, value: valueOf(effect, scripted?.value) };
}

function valueOf(effect: Effect, value: Json | undefined): Json {
  switch (effect.type) {
    case 'shell':
      return isJsonObject(value) ? shellValue(value) : (value ?? usualShell);
    case 'emit':
      return value ?? { event: effect.event };
    case 'command':
    case 'sentinel':
      return value ?? null;
    default:
      return effect satisfies never;
  }
}

function shellValue(value: { [name: string]: Json }): Json {
  const exitCode = value['exitCode'] ?? 0;
  return { ...usualShell, exitCode, exit_code: exitCode, output: value['stdout'] ?? '', success: exitCode === 0, ...value };
}
