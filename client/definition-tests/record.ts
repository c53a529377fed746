/**
 * A test case made from a run that ended: its definition, inputs and trace, and a reply for each step
 * that asked something of the world. Events hold at most 200 characters of a value; longer ones are
 * known only where they are outputs of the run. What is not known is said, and left to its author.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Definition, Step } from '../../language/model.ts';
import type { RunEvent, StepFinished } from '../../language/run-event.ts';
import type { Run } from '../../prisma/store/contract.ts';
import { runScenario, type Outcome, type Scenario } from '../../workflows/simulation/run-scenario.ts';
import type { ScriptSource } from '../../workflows/simulation/script.ts';
import { traceOf, type TracedRun } from '../../workflows/simulation/trace.ts';
import { definitionPath } from '../../workflows/interpreter/keys.ts';
import { stepsAt } from '../../workflows/interpreter/program.ts';
import { stage } from '../simulate/stage.ts';
import { attemptsFirst } from './attempts-first.ts';
import { cutDown } from './compare.ts';
import { answersIn, interruptionsIn, isCutShort, keyIn } from './record-people.ts';
import { readReplies } from './test-file.ts';

/** A run of the store with the runs nested in it, outermost first; `under` is what leads from the run to a nested one. */
export interface StoredRun {
  run: Run;
  definition: Definition;
  library: { [name: string]: Definition };
  events: readonly RunEvent[];
  nested: readonly { under: string; definition: Definition | null; events: readonly RunEvent[] }[];
}

export interface Recorded {
  file: JsonObject;
  /** What could not be known, in sentences. */
  unknown: string[];
}

export async function recordRun(stored: StoredRun): Promise<Recorded> {
  const { run, definition, library, events, nested } = stored;
  const unknown: string[] = [];
  const parts = [{ under: '', definition, events }, ...nested];
  // Where time decided how far the run came, the replies take theirs.
  const isTimed = run.limit === 'timeoutMs' || run.outcome === 'cancelled' || parts.some((part) => part.events.some(isCutShort));
  const replies = attemptsFirst(parts.flatMap((part) => repliesOf(part, part.under === '' ? (run.outputs ?? {}) : outputsIn(part.events), isTimed, unknown)));
  const below = nested.map((part) => tracedRun(`${run.handle}/${part.under}`, part.events, true));
  const whole = traceOf(tracedRun(run.handle, events, false), below);
  const [inputs, answers, interruptions, env] = [inputsOf(run, definition), answersIn(parts), interruptionsIn(parts), envOf(stored)];
  const script = { replies: readReplies(replies), answers, interruptions } as unknown as ScriptSource;
  const outcome = await comesTo({ ...script, definition, library, inputs, env }, run);
  const trace = outcome?.trace.some(isHold) === true ? whole : whole.filter((line) => !isHold(line));
  if (trace.length < whole.length) unknown.push('the run was paused; when is not part of the test');
  const outputs = outcome === null ? {} : sameOutputs(run.outputs ?? {}, outcome, unknown);
  if (!isDeepStrictEqual(outcome?.trace, trace)) unknown.push('with what is known the run takes another way; complete the file until "sentinel test" passes');
  const file = {
    name: `run ${run.handle}`,
    ...(unknown.length === 0 ? {} : { notes: unknown }),
    definition: definition as unknown as Json,
    ...present({ library: library as unknown as JsonObject }),
    project: run.project,
    persona: run.persona,
    inputs,
    ...present({ env }),
    replies,
    ...present({ answers }),
    ...(interruptions.length === 0 ? {} : { interruptions }),
    expect: { ...endOf(run), outputs, trace },
  };
  return { file, unknown };
}

/** Null where the simulated run does not come to an end with what is known. */
async function comesTo(scenario: Scenario, { project, persona }: Run): Promise<Outcome | null> {
  try {
    return await runScenario(scenario, { stage, project, persona });
  } catch {
    // It waits for what the events do not hold: an event of somebody else's, or an answer.
    return null;
  }
}

function present(fields: { [name: string]: JsonObject }): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0));
}

/** Values of environment variables are in no event, only what stands for them; those that had none were warned of. */
function envOf({ definition, library, nested, events }: StoredRun): { [name: string]: string } {
  const definitions = [definition, ...Object.values(library), ...nested.flatMap((part) => part.definition ?? [])];
  const missing = [events, ...nested.map((part) => part.events)].flat().flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  const names = new Set(definitions.flatMap(({ env = [] }) => env));
  const set = [...names].filter((name) => !missing.some((message) => new RegExp(`\\benv\\.${name}\\b`).test(message)));
  return Object.fromEntries(set.map((name) => [name, `[env ${name}]`]));
}

function inputsOf({ inputs }: Run, definition: Definition): JsonObject {
  const own = Object.entries(inputs).filter(([name, value]) => !isDeepStrictEqual(definition.inputs?.[name], value));
  return Object.fromEntries(own);
}

function endOf({ outcome, limit, failure }: Run): JsonObject {
  return { outcome: outcome ?? 'completed', ...(limit === null ? {} : { limit }), ...(failure === null ? {} : { failure: { code: failure.code } }) };
}

function tracedRun(handle: string, events: readonly RunEvent[], isNested: boolean): TracedRun {
  const end = events.find((event) => event.type === 'run-finished');
  return { handle, isNested, events, result: end === undefined ? null : { outcome: end.outcome, ...(end.limit === undefined ? {} : { limit: end.limit }) } };
}

const isHold = (line: string): boolean => /^\s*(?:paused: |resumed$)/.test(line);

function outputsIn(events: readonly RunEvent[]): { [name: string]: Json } {
  return events.find((event) => event.type === 'run-finished')?.outputs ?? {};
}

/** What was cut short would have taken longer than whatever cut it short. */
const longerMs = 86_400_000;

const ASKING = new Set<Step['type']>(['shell', 'command', 'llm', 'watch']);

function repliesOf(
  { under, definition, events }: { under: string; definition: Definition | null; events: readonly RunEvent[] },
  outputs: { [name: string]: Json },
  isTimed: boolean,
  unknown: string[],
): [string, Json][] {
  const finished = events.filter((event) => event.type === 'step-finished').filter(({ step }) => ASKING.has(step));
  // After an edit a key tells where its step stood then, not where it stands in the definition.
  const setters = settersOf(finished, events.some(({ type }) => type === 'edited') ? null : definition);
  const replies: [string, Json][] = [];
  for (const event of finished) {
    const key = keyIn(under, event.key);
    const frame = { ...(isTimed ? { tookMs: event.durationMs } : {}), ...(event.usage === undefined ? {} : { usage: { ...event.usage } }) };
    if (isCutShort(event)) {
      replies.push([key, { ok: true, ...frame, tookMs: event.durationMs + longerMs }]);
      continue;
    }
    if (event.failure !== undefined) {
      const { code, message, retryable } = event.failure;
      replies.push([key, { ok: false, failure: { code, message, retryable }, ...frame }]);
      continue;
    }
    const variable = setters.get(event.key);
    const value = (variable === undefined ? undefined : wholeValue(outputs[variable])) ?? previewed(event.preview);
    if (value === undefined) unknown.push(`what ${key} ("${event.label}") gave is too long for the run's events; write its reply`);
    replies.push([key, { ok: true, ...(value === undefined ? {} : { value: event.step === 'shell' ? withoutNoise(value) : value }), ...frame }]);
  }
  return replies;
}

/** Steps whose variable still holds what they gave when the run ended, with that variable. */
function settersOf(finished: readonly StepFinished[], definition: Definition | null): Map<string, string> {
  const setters = new Map<string, string>();
  const last = new Map<string, { key: string; shared: boolean }>();
  for (const { key } of definition === null ? [] : finished.toSorted((a, b) => a.seq - b.seq)) {
    const name = definition === null ? undefined : outputOf(definition, key);
    if (name === undefined) continue;
    last.set(name, { key, shared: last.has(name) && key.includes('.branches.') });
  }
  for (const [name, { key, shared }] of last) if (!shared) setters.set(key, name);
  return setters;
}

function outputOf(definition: Definition, key: string): string | undefined {
  const path = definitionPath(key.slice(0, key.lastIndexOf('@')));
  const at = path.lastIndexOf('.');
  const step = stepsAt(definition, path.slice(0, at))[Number(path.slice(at + 1))];
  return step !== undefined && 'outputTo' in step ? step.outputTo : undefined;
}

/** Undefined for a value of which only a reference is kept. */
function wholeValue(value: Json | undefined): Json | undefined {
  return isJsonObject(value) && typeof value['$payload'] === 'string' ? undefined : value;
}

/** The value behind a preview, where all of it is there. Text is previewed as it is. */
function previewed(preview: string | undefined): Json | undefined {
  if (preview === undefined || preview.includes('…')) return undefined;
  try {
    return JSON.parse(preview) as Json;
  } catch {
    return preview;
  }
}

/** How long a process took is no part of what it gave, and a quiet success says no more than its end. */
function withoutNoise(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (!isJsonObject(value)) return value;
  if (typeof value['exitCode'] === 'number') {
    const { exitCode, stdout = '', stderr = '' } = value;
    return { exitCode, ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }) };
  }
  return Object.fromEntries(Object.entries(value).flatMap(([name, field]) => (name === 'averageDurationMs' ? [] : [[name, withoutNoise(field)]])));
}

/** Outputs that come out again; the others depend on the clock, or on what is not known. */
function sameOutputs(outputs: { [name: string]: Json }, { result }: Outcome, unknown: string[]): JsonObject {
  const same: JsonObject = {};
  for (const [name, value] of Object.entries(outputs)) {
    const wanted = withoutNoise(value);
    if (isDeepStrictEqual(cutDown(result.outputs[name] ?? null, wanted), wanted)) same[name] = wanted;
    else unknown.push(`the output "${name}" does not come out again, so it is not compared`);
  }
  return same;
}
