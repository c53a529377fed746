/**
 * A test case made from a run that ended: its definition, inputs and trace, and a reply for each step
 * that asked something of the world. What is not known is said, and left to its author.
 */
import { isDeepStrictEqual } from 'node:util';
import { startValues } from '../../../language/inputs/declared-inputs.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Catalogue } from '../../../language/catalogue.ts';
import type { Definition } from '../../../language/model.ts';
import { HELD_WITH_PARENT, isAtLimit } from '../../../language/events/question.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { defined } from '../../../language/defined.ts';
import type { Run } from '../../../prisma/store/contract/contract.ts';
import type { StoredTurn } from '../../../prisma/store/contract/models/conversation-contract.ts';
import {
  runScenario,
  type Outcome,
  type Scenario,
  type Staging,
} from '../../../interpreter/simulation/run-scenario.ts';
import { Script, type Interruption } from '../../../interpreter/simulation/script.ts';
import { traceOf, type TracedRun } from '../../../interpreter/simulation/trace.ts';
import { stage } from '../../simulate/stage.ts';
import { attemptsFirst } from './attempts-first.ts';
import { cutDown } from '../compare.ts';
import { answersIn, holdsIn, interruptionsIn, isCutShort, keyIn, type RunPart } from './record-people.ts';
import { inTurn, repliesOf, withoutNoise, type Given, type RecordedPart } from './record-replies.ts';
import { AsItCame, groupsIn, type Moments } from './record-times.ts';
import { readReplies } from '../test-file.ts';

/** A run of the store with the runs nested in it, outermost first; `under` is what leads from the run to a nested one. */
export interface StoredRun {
  run: Run;
  definition: Definition;
  library: { [name: string]: Definition };
  /** The commands there are. */
  catalogue: Catalogue;
  events: readonly RunEvent[];
  nested: readonly RecordedPart[];
  /** What its models answered. */
  turns?: readonly StoredTurn[];
}

export interface Recorded {
  file: JsonObject;
  /** What could not be known, in sentences. */
  unknown: string[];
}

export async function recordRun(stored: StoredRun): Promise<Recorded> {
  const { run, definition, library, catalogue, events, nested, turns = [] } = stored;
  const unknown: string[] = [];
  const parts: RecordedPart[] = [{ under: '', definition, events, turns }, ...nested];
  const given = parts.flatMap((part) =>
    repliesOf(part, part.under === '' ? (run.outputs ?? {}) : outputsIn(part.events), unknown),
  );
  const below = nested.map((part) => tracedRun(`${run.handle}/${part.under}`, part.events, true));
  const whole = traceOf(tracedRun(run.handle, events, false), below);
  const groups = groupsIn(events);
  const [inputs, interruptions, holds, env] = [
    inputsOf(run, definition),
    interruptionsIn(parts),
    holdsIn(parts),
    envOf(stored),
  ];
  const { replies, answers, outcome, trace } = await scripted({
    run,
    parts,
    given,
    whole,
    scenario: {
      definition,
      library,
      catalogue,
      inputs,
      env,
      interruptions: interruptions as unknown as Interruption[],
      holds,
      groups,
    },
  });
  if (trace.length < whole.length || whole.some(isOwnPause))
    unknown.push('the run was paused; when is not part of the test');
  const outputs = outcome === null ? {} : sameOutputs(run.outputs ?? {}, outcome, unknown);
  if (!isDeepStrictEqual(outcome?.trace, trace))
    unknown.push('with what is known the run takes another way; complete the file until "sentinel test" passes');
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
    ...(holds.length === 0 ? {} : { holds }),
    ...present({ groups: groups as unknown as JsonObject }),
    expect: { ...endOf(run), outputs, trace: [...trace] },
  };
  return { file, unknown };
}

interface Told {
  run: Run;
  parts: readonly RunPart[];
  given: readonly Given[];
  whole: readonly string[];
  scenario: Scenario;
}

interface Scripted {
  replies: JsonObject;
  answers: JsonObject;
  outcome: Outcome | null;
  /** The run's own; where the simulated run was held at the same limits beside another branch's step, that one's. */
  trace: readonly string[];
}

/** Replies and answers take their time where time decided how far the run came: something was cut short, or without it the run takes another way. */
async function scripted(told: Told): Promise<Scripted> {
  const { run, parts, given, scenario } = told;
  const isTimed =
    run.limit === 'timeoutMs' || run.outcome === 'cancelled' || parts.some((part) => part.events.some(isCutShort));
  const untimed = { replies: attemptsFirst(inTurn(given)), answers: answersIn(parts) };
  const atOnce = isTimed ? null : await attempt(told, untimed);
  if (atOnce !== null && isDeepStrictEqual(atOnce.outcome?.trace, atOnce.trace)) return atOnce;
  const came = new AsItCame(new Script(scriptOf(scenario, untimed)), momentsIn(told));
  await comesTo(scenario, run, { answers: came, stage: { ...stage, clockMoved: (now) => came.clockMoved(now) } });
  const inTime = await attempt(told, {
    replies: attemptsFirst(inTurn(given, came.took)),
    answers: answersIn(parts, came.answered),
  });
  if (isDeepStrictEqual(inTime.outcome?.trace, inTime.trace)) return inTime;
  const tried = atOnce === null ? [inTime] : [inTime, atOnce];
  const near = tried.find(({ outcome, trace }) => outcome !== null && isHeldElsewhere(outcome.trace, trace));
  return near === undefined ? (atOnce ?? inTime) : { ...near, trace: near.outcome?.trace ?? [] };
}

async function attempt({ run, whole, scenario }: Told, said: Pick<Scripted, 'replies' | 'answers'>): Promise<Scripted> {
  const outcome = await comesTo(scriptOf(scenario, said), run);
  if (outcome !== null && whole.some(isOwnPause) && isDeepStrictEqual(withoutHolds(outcome.trace), withoutHolds(whole)))
    return { ...said, outcome, trace: outcome.trace };
  // Pauses come out again where they were at limits.
  return { ...said, outcome, trace: outcome?.trace.some(isHold) === true ? whole : withoutHolds(whole) };
}

const withoutHolds = (trace: readonly string[]): string[] => trace.filter((line) => !isHold(line));

/** One that somebody asked for, or a step of the run itself; a test does not say it, so only those at limits come out again. */
function isOwnPause(line: string): boolean {
  const reason = /^\s*paused: (.*)$/.exec(line)?.[1];
  return reason !== undefined && reason !== HELD_WITH_PARENT && !isAtLimit(reason);
}

/** Two branches may come to something at the same time; beside the step of which of them a run is held, is chance. */
function isHeldElsewhere(trace: readonly string[], other: readonly string[]): boolean {
  const [one, two] = [trace, other].map((lines) => [
    lines.filter((line) => !isOfRun(line)),
    lines.filter(isOfRun).toSorted(),
  ]);
  return isDeepStrictEqual(one, two);
}

const scriptOf = (scenario: Scenario, { replies, answers }: Pick<Scripted, 'replies' | 'answers'>): Scenario => ({
  ...scenario,
  replies: readReplies(replies),
  answers: answers as unknown as NonNullable<Scenario['answers']>,
});

/** The row of a run is there before the run begins. */
function momentsIn({ run, parts, given }: Told): Moments {
  const startedAt = parts[0]?.events.find(({ type }) => type === 'run-started')?.at ?? run.startedAt;
  const ends = new Map<string, number[]>();
  for (const { key, endedAt } of given) ends.set(key, [...(ends.get(key) ?? []), endedAt - startedAt]);
  const answers = parts.flatMap(({ under, events }) =>
    events.flatMap((event): [string, number][] =>
      event.type === 'answered' ? [[keyIn(under, event.id), event.at - startedAt]] : [],
    ),
  );
  return { ends, answers: new Map(answers) };
}

/** Null where the simulated run does not come to an end with what is known. */
async function comesTo(
  scenario: Scenario,
  { project, persona }: Run,
  staging: Partial<Staging> = {},
): Promise<Outcome | null> {
  try {
    return await runScenario(scenario, { stage, project, persona, ...staging });
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
  const missing = [events, ...nested.map((part) => part.events)]
    .flat()
    .flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  const names = new Set(definitions.flatMap(({ env = [] }) => env));
  const set = [...names].filter((name) => !missing.some((message) => new RegExp(`\\benv\\.${name}\\b`).test(message)));
  return Object.fromEntries(set.map((name) => [name, `[env ${name}]`]));
}

function inputsOf({ inputs }: Run, definition: Definition): JsonObject {
  const own = Object.entries(inputs).filter(
    ([name, value]) => !isDeepStrictEqual(startValues(definition)[name], value),
  );
  return Object.fromEntries(own);
}

function endOf({ outcome, limit, failure }: Run): JsonObject {
  return {
    outcome: outcome ?? 'completed',
    ...(limit === null ? {} : { limit }),
    ...(failure === null ? {} : { failure: { code: failure.code } }),
  };
}

function tracedRun(handle: string, events: readonly RunEvent[], isNested: boolean): TracedRun {
  const end = events.find((event) => event.type === 'run-finished');
  return {
    handle,
    isNested,
    events,
    result: end === undefined ? null : { outcome: end.outcome, ...defined({ limit: end.limit }) },
  };
}

/** Of a limit that holds the run, and of no step. */
const isOfRun = (line: string): boolean => isHold(line) || /^\s*limit\./.test(line);

const isHold = (line: string): boolean => /^\s*(?:paused: |resumed$)/.test(line);

function outputsIn(events: readonly RunEvent[]): { [name: string]: Json } {
  return events.find((event) => event.type === 'run-finished')?.outputs ?? {};
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
