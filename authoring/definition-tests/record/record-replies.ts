/**
 * What the world answered a run that ended, as a test says it. Events hold at most 200 characters of a
 * value; longer ones are known only where they are outputs of the run.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import type { RunEvent, StepFinished } from '../../../language/events/run-event.ts';
import { isCall } from '../../../language/models/turn-keys.ts';
import { variablesSetBy } from '../../../language/references/variables-set.ts';
import { definitionPath } from '../../../interpreter/keys.ts';
import { stepsAt } from '../../../interpreter/program.ts';
import type { StoredTurn } from '../../../prisma/store/contract/models/conversation-contract.ts';
import { isCutShort, keyIn } from './record-people.ts';
import { turnReplies } from './record-turns.ts';

/** What was cut short would have taken longer than whatever cut it short. */
const longerMs = 86_400_000;

const ASKING = new Set<Step['type']>(['shell', 'command', 'llm', 'watch']);

/** One reply of a step. */
export interface Given {
  /** Behind the keys that lead to its run. */
  key: string;
  reply: JsonObject;
  durationMs: number;
  endedAt: number;
}

/** A run, and what its models answered where that is known. */
export interface RecordedPart {
  under: string;
  definition: Definition | null;
  events: readonly RunEvent[];
  turns?: readonly StoredTurn[];
}

/** In the order in which they came. */
export function repliesOf(
  { under, definition, events, turns = [] }: RecordedPart,
  outputs: { [name: string]: Json },
  unknown: string[],
): Given[] {
  const ended = events.filter((event) => event.type === 'step-finished').toSorted((a, b) => a.seq - b.seq);
  // After an edit a key tells where its step stood then, not where it stands in the definition.
  const unedited = events.some(({ type }) => type === 'edited') ? null : definition;
  const finished = ended.filter(
    ({ step, key }) =>
      ASKING.has(step) && (!isCall(key) || turns.length > 0) && !(step === 'watch' && isOfEvents(unedited, key)),
  );
  const setters = settersOf(ended, unedited);
  return finished.flatMap((event): Given[] => {
    const said = event.step === 'llm' ? turnReplies(turns, event.key) : [];
    // The turn that a step failed in, or was cut short in, comes last.
    const isAnswered = said.length > 0 && event.failure === undefined && !isCutShort(event);
    const last = isAnswered ? [] : [replyOf(event)];
    const { durationMs, at: endedAt } = event;
    const before = said.map((reply, nth): Given => {
      const isLast = isAnswered && nth + 1 === said.length;
      return { key: keyIn(under, event.key), reply, durationMs: isLast ? durationMs : 1, endedAt };
    });
    return [...before, ...last];
  });

  function replyOf(event: StepFinished): Given {
    const { durationMs, at: endedAt, failure, usage, label } = event;
    const given = { key: keyIn(under, event.key), durationMs, endedAt };
    const frame = usage === undefined ? {} : { usage: { tokens: usage.tokens, usd: usage.usd } };
    if (isCutShort(event))
      return { ...given, endedAt: endedAt + longerMs, reply: { ok: true, ...frame, tookMs: durationMs + longerMs } };
    // One that failed for what its process gave is given that again.
    if (failure !== undefined && event.preview === undefined)
      return {
        ...given,
        reply: {
          ok: false,
          failure: { code: failure.code, message: failure.message, retryable: failure.retryable },
          ...frame,
        },
      };
    const variable = setters.get(event);
    const value = (variable === undefined ? undefined : wholeValue(outputs[variable])) ?? previewed(event.preview);
    if (value === undefined)
      unknown.push(`what ${given.key} ("${label}") gave is too long for the run's events; write its reply`);
    return {
      ...given,
      reply: {
        ok: true,
        ...(value === undefined ? {} : { value: event.step === 'shell' ? withoutNoise(value) : value }),
        ...frame,
      },
    };
  }
}

/** By key; a step that a limit made begin again has one for each time. `took`: how long each of them takes, where that matters. */
export function inTurn(given: readonly Given[], took?: ReadonlyMap<string, readonly number[]>): [string, Json][] {
  const byKey = new Map<string, Given[]>();
  for (const one of given) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]);
  return [...byKey].map(([key, all]) => {
    const replies = all.map(({ reply, durationMs }, index) =>
      took === undefined ? reply : { ...reply, tookMs: took.get(key)?.[index] ?? reply['tookMs'] ?? durationMs },
    );
    const [first = null, ...others] = replies;
    return [key, others.length === 0 ? first : replies];
  });
}

/** Steps whose variable still holds what they gave when the run ended, with the output of the run that it is. */
function settersOf(ended: readonly StepFinished[], definition: Definition | null): Map<StepFinished, string> {
  const setters = new Map<StepFinished, string>();
  const last = new Map<string, { event: StepFinished; shared: boolean }>();
  for (const event of ended)
    for (const name of definition === null ? [] : outputsOf(definition, event.key))
      last.set(name, { event, shared: last.has(name) && event.key.includes('.branches.') });
  for (const [name, { event, shared }] of last) {
    const output = shared ? undefined : outputOf(definition, name);
    if (output !== undefined) setters.set(event, output);
  }
  return setters;
}

/** The output of the run that holds the variable; where outputs are declared, one that is the variable and nothing else. */
function outputOf(definition: Definition | null, variable: string): string | undefined {
  const declared = definition?.outputs;
  if (declared === undefined) return variable;
  return Object.keys(declared).find(
    (name) => declared[name] === `$${variable}` || declared[name] === `{{${variable}}}`,
  );
}

/** Events reach a watch as they are published: nobody is asked for them. */
function isOfEvents(definition: Definition | null, key: string): boolean {
  const step = definition === null ? undefined : stepOf(definition, key);
  return step?.type === 'watch' && step.event !== undefined;
}

function stepOf(definition: Definition, key: string): Step | undefined {
  const path = definitionPath(key.slice(0, key.lastIndexOf('@')));
  const at = path.lastIndexOf('.');
  return stepsAt(definition, path.slice(0, at))[Number(path.slice(at + 1))];
}

function outputsOf(definition: Definition, key: string): string[] {
  const step = stepOf(definition, key);
  return step === undefined ? [] : variablesSetBy(step);
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
export function withoutNoise(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (!isJsonObject(value)) return value;
  if (typeof value['exitCode'] === 'number') {
    const { exitCode, stdout = '', stderr = '' } = value;
    return { exitCode, ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }) };
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) =>
      name === 'averageDurationMs' ? [] : [[name, withoutNoise(field)]],
    ),
  );
}
