/**
 * What is chosen where a run is started, and at which door. All else that decides what the run may do is its definition's
 * at every door: mode, approvals, limits, secrets and tools. A door has each choice of the list, or says here why it has
 * it not (test/cli/start-choices.test.ts).
 */
import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import { Policy } from './policy.ts';
import { Value } from '../settings.ts';

export interface StartChoices {
  /** The folder that the run works in, as an absolute path: `$PROJECT_ROOT`, against which relative paths are resolved. */
  project: string;
  /** Values of the definition's inputs. */
  inputs?: JsonObject;
  /** Who the run belongs to: questions go to this persona. Default: `local`. */
  persona?: string;
  /** Default: the name of the definition and eight random characters. */
  handle?: string;
  /** Run the steps on the workers of this host only. */
  host?: string;
  /**
   * Rules about the actions of the run, in order: the first that matches allows, asks or refuses. They hold besides the
   * policy of the project, also for runs that it starts. Of several lists each is asked. Throws `POLICY_INVALID`.
   */
  policy?: Policy | readonly Policy[];
  /** The text of a cassette. The run then sends no request to a model, and gets the recorded answers. */
  cassette?: string;
  /** Continue as new after so many steps; default: when Temporal suggests it. */
  continueEvery?: number;
}

export type StartChoice = keyof StartChoices;

const Name = z.string().min(1);

/** Each as one who gives it as data writes it. */
export const START_CHOICES = {
  project: Name.describe('The folder that the run works in.'),
  inputs: z.record(z.string(), Value).describe('Values of its inputs.'),
  persona: Name.describe('Who the run belongs to.'),
  handle: Name.describe('A name for the run, which no other has.'),
  host: Name.describe('The host whose workers run it.'),
  policy: Policy.describe(
    'Rules about its actions, in order: {name, match, verdict, reason}. The first that matches allows, asks or refuses. They hold besides all others, and make none looser.',
  ),
  cassette: z.string().describe('The text of a cassette, from which its models answer.'),
  continueEvery: z.number().int().positive().describe('The number of steps after which it continues as new.'),
} satisfies { [Choice in StartChoice]-?: z.ZodType };

type LeftOut = { readonly [Choice in StartChoice]?: string };

const TEMPORALS = 'a means of tests: Temporal says when';
const AS_BEFORE = {
  project: 'where the old run worked',
  inputs: 'those of the old run; variables of it can be set',
  cassette: 'as the models of the old run answered',
  continueEvery: 'as the old run',
} as const satisfies LeftOut;
const OF_STEP = {
  project: 'that of the run whose step starts it',
  persona: 'that of the run whose step starts it',
  handle: 'made of the step, so that an attempt starts no second one',
  host: 'the workers of the run whose step starts it',
  cassette: 'as the models of the run whose step starts it answer',
  continueEvery: TEMPORALS,
} as const satisfies LeftOut;

/** What a door does not leave to whoever comes through it, and why. */
export const LEFT_OUT = {
  'client.start': {},
  'client.retry': AS_BEFORE,
  run: {},
  fork: AS_BEFORE,
  retry: AS_BEFORE,
  'schedule create': {
    cassette: 'recorded answers are those of one day',
    continueEvery: TEMPORALS,
  },
  'trigger add': {
    handle: 'made of trigger and event, so that an event starts one run',
    cassette: 'recorded answers are those of one event',
    continueEvery: TEMPORALS,
  },
  eval: {
    inputs: 'those of the cases in its file',
    handle: 'made of the case, so that an evaluation can be gone on with',
    continueEvery: TEMPORALS,
  },
  command: {
    inputs: 'the parameters of the command are its inputs',
    cassette: 'a command by hand is performed, and not played back',
    continueEvery: TEMPORALS,
  },
  simulate: {
    handle: 'there is no run',
    host: 'nothing is performed',
    cassette: '"--replies" answers for models and for all other steps',
    continueEvery: TEMPORALS,
  },
  /** For all runs of those whom it serves. */
  'mcp serve': {
    inputs: 'chosen run by run',
    handle: 'chosen run by run',
    cassette: 'an agent starts runs that work',
    continueEvery: TEMPORALS,
  },
  run_sentinel: {
    project: "the server's",
    persona: "the server's, or the owner that the definition names",
    host: "the server's",
    cassette: 'an agent starts runs that work',
    continueEvery: TEMPORALS,
  },
  retry_run: { ...AS_BEFORE, persona: 'that of the old run', host: 'the workers of the old run' },
  'sentinel/run': OF_STEP,
  'sentinel/start': OF_STEP,
} as const satisfies { readonly [door: string]: LeftOut };

export type StartDoor = keyof typeof LEFT_OUT;
export type ChoiceAt<Door extends StartDoor> = Exclude<StartChoice, keyof (typeof LEFT_OUT)[Door]>;

/** The choices that a door has. */
export const choicesAt = (door: StartDoor): StartChoice[] =>
  (Object.keys(START_CHOICES) as StartChoice[]).filter((choice) => !Object.hasOwn(LEFT_OUT[door], choice));

/** Its choices as the parameters of a door that takes data; none of them has to be given. */
export function choiceParams<Door extends StartDoor>(
  door: Door,
): { [Choice in ChoiceAt<Door>]: z.ZodOptional<(typeof START_CHOICES)[Choice]> } {
  const params = choicesAt(door).map((choice) => [choice, START_CHOICES[choice].optional()]);
  return Object.fromEntries(params) as { [Choice in ChoiceAt<Door>]: z.ZodOptional<(typeof START_CHOICES)[Choice]> };
}
