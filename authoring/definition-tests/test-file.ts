/**
 * The format of a `*.sentinel-test.json` file: one case, or several that share what stands beside
 * `cases`. What it says is documented in docs/testing-definitions.md; the conformance kit under
 * test/conformance/ is written in the same format.
 */
import * as z from 'zod';
import type { Json, JsonObject } from '../../language/json.ts';
import { isJsonObject } from '../../language/json.ts';
import { Step } from '../../language/model.ts';
import { CHOICES } from '../../language/events/question.ts';
import type { ScriptedReply, ScriptSource } from '../../interpreter/simulation/script.ts';

/** As it was parsed: a copy by zod would lose keys such as `__proto__`, which a reply may well have. */
const Value = z.custom<Json>();

const Failing = z.strictObject({
  code: z.string().min(1),
  message: z.string().optional(),
  retryable: z.boolean().optional(),
  /** How long the provider of a model asks to wait. */
  retryAfterMs: z.number().nonnegative().optional(),
});

/** A reply in full has `ok`; anything else is the value of a success. */
const FullReply = z.strictObject({
  ok: z.boolean(),
  value: Value.optional(),
  failure: Failing.optional(),
  tookMs: z.number().nonnegative().optional(),
  /** What it cost, for runs with a budget. */
  usage: z
    .strictObject({ steps: z.number().optional(), tokens: z.number().optional(), usd: z.number().optional() })
    .optional(),
});

const Edit = z.strictObject({
  op: z.enum(['add', 'update', 'remove', 'skip']),
  path: z.string().min(1),
  /** Canonical: no reader stands between the script and the run. */
  step: Step.optional(),
  /** The one that was seen; the run's own when absent. */
  revision: z.number().int().nonnegative().optional(),
});

const Tell = z.strictObject({
  text: z.string(),
  /** Key of the model step, where several are under way. */
  step: z.string().min(1).optional(),
  id: z.string().min(1).optional(),
  by: z.string().min(1).optional(),
});

const Interruption = z
  .strictObject({
    at: z.string().min(1),
    when: z.enum(['before', 'during']).optional(),
    do: z.enum(['pause', 'stop', 'cancel', 'edit', 'tell']),
    afterMs: z.number().nonnegative().optional(),
    forMs: z.number().nonnegative().optional(),
    edit: Edit.optional(),
    tell: Tell.optional(),
  })
  .refine(
    ({ do: deed, edit }) => (deed === 'edit') === (edit !== undefined),
    '"edit" says what is edited where "do" is "edit", and stands nowhere else',
  )
  .refine(
    ({ do: deed, tell }) => (deed === 'tell') === (tell !== undefined),
    '"tell" says what a model is told where "do" is "tell", and stands nowhere else',
  )
  .refine(
    ({ when, afterMs }) => afterMs === undefined || when === 'during',
    '"afterMs" counts from the beginning of a step, so "when" is "during"',
  );

const Answer = z.strictObject({
  choice: z.enum(CHOICES),
  note: z.string().optional(),
  data: Value.optional(),
  by: z.string().optional(),
  /** Where `by` is none of those that the question asks: for whom of them it answers. */
  counts: z.strictObject({ among: z.string().min(1), person: z.string().min(1) }).optional(),
  afterMs: z.number().nonnegative().optional(),
});

const Published = z.strictObject({ name: z.string().min(1), data: Value.optional() });

const Script = {
  replies: z.record(z.string().min(1), Value).optional(),
  interruptions: z.array(Interruption).optional(),
  /** By the question's id, which is the key of the step that asks, or a pattern of it; an empty list: nobody answers. */
  answers: z.record(z.string().min(1), z.union([Answer, z.array(Answer)])).optional(),
  events: z.array(Published.extend({ afterMs: z.number().nonnegative().optional() })).optional(),
  cause: Published.optional(),
  /** Groups that other runs hold as the run begins, by name. */
  groups: z
    .record(z.string().min(1), z.strictObject({ by: z.string().min(1), forMs: z.number().nonnegative().optional() }))
    .optional(),
  /** The run takes places of its persona: how long, in milliseconds, other runs have them all, each time that it asks. */
  places: z.array(z.number().nonnegative()).optional(),
  /** For how many milliseconds the persona has used what it may use in a day, each time that the run asks. */
  days: z.array(z.number().nonnegative()).optional(),
  holds: z.array(z.enum(['resume', 'stop', 'cancel'])).optional(),
};

const Parts = {
  outcome: z.enum(['completed', 'failed', 'stopped', 'cancelled']).optional(),
  status: z.enum(['completed', 'failed', 'cancelled']).optional(),
  limit: z.string().optional(),
  failure: z.strictObject({ code: z.string().optional(), message: z.string().optional() }).optional(),
  iterations: z.number().int().nonnegative().optional(),
  outputs: z.record(z.string(), Value).optional(),
  effects: z.record(z.string(), Value).optional(),
  trace: z.array(z.string()).optional(),
};

export const Expectation = z.strictObject({
  ...Parts,
  /** Where more than one run is right, what holds in each of them; one of these has to. */
  either: z.array(z.strictObject(Parts)).min(2).optional(),
  problems: z.array(z.union([z.string(), z.record(z.string(), z.string())])).optional(),
});
export type Expectation = z.infer<typeof Expectation>;

const Case = {
  definition: z.union([z.string().min(1), z.record(z.string(), Value)]).optional(),
  library: z.record(z.string(), z.record(z.string(), Value)).optional(),
  unchecked: z.boolean().optional(),
  inputs: z.record(z.string(), Value).optional(),
  env: z.record(z.string(), z.string()).optional(),
  project: z.string().optional(),
  persona: z.string().optional(),
  ...Script,
};
const Named = z.strictObject({ name: z.string().min(1), ...Case, expect: Expectation.optional() });

const File = z.strictObject({
  $schema: z.string().optional(),
  name: z.string().min(1).optional(),
  /** What a reader should know; nothing reads it. */
  notes: z.union([z.string(), z.array(z.string())]).optional(),
  ...Case,
  expect: Expectation.optional(),
  cases: z.array(Named).min(1).optional(),
});

export interface TestCase {
  name: string;
  /** A path beside the file, a definition, or absent: the file of the same name beside this one. */
  definition: string | JsonObject | undefined;
  library: { [name: string]: JsonObject };
  /** Both are canonical and run as they are, also where a check would refuse them. */
  unchecked: boolean;
  inputs: JsonObject;
  env: { [name: string]: string };
  project: string | undefined;
  persona: string | undefined;
  script: ScriptSource;
  expect: Expectation;
  /** Patterns of replies that the case shares with others. */
  shared: ReadonlySet<string>;
  /** Where the case's `expect` stands in the file. */
  at: number | null;
}

/** The cases of a file, or a sentence for each thing that is wrong with it. */
export function readCases(value: unknown, fileName: string): { cases: TestCase[] } | { mistakes: string[] } {
  const read = File.safeParse(value);
  if (!read.success) return { mistakes: mistakesOf(read.error) };
  const { cases, expect, name = fileName, $schema: _schema, notes: _notes, ...shared } = read.data;
  try {
    if (cases === undefined) return { cases: [caseOf({ ...shared, name, expect }, null, [])] };
    if (expect !== undefined) return { mistakes: ['"expect" stands beside "cases"; put it into each case'] };
    return {
      cases: cases.map((one, index) =>
        caseOf(
          { ...shared, ...one, ...together(shared, one) },
          index,
          Object.keys(shared.replies ?? {}).filter((pattern) => !Object.hasOwn(one.replies ?? {}, pattern)),
        ),
      ),
    };
  } catch (error) {
    if (error instanceof BadReply) return { mistakes: [error.message] };
    throw error;
  }
}

type Raw = z.infer<typeof Named>;

/** A case adds to what the file says: its own inputs win, and its own replies are looked at first. */
function together(shared: Omit<Raw, 'name' | 'expect'>, own: Raw): Partial<Raw> {
  return {
    inputs: { ...shared.inputs, ...own.inputs },
    library: { ...shared.library, ...own.library },
    replies: {
      ...own.replies,
      ...Object.fromEntries(
        Object.entries(shared.replies ?? {}).filter(([pattern]) => !Object.hasOwn(own.replies ?? {}, pattern)),
      ),
    },
  };
}

function caseOf(raw: Raw, at: number | null, shared: readonly string[]): TestCase {
  const {
    name,
    definition,
    library = {},
    unchecked = false,
    inputs = {},
    env = {},
    project,
    persona,
    expect = {},
    replies,
    ...rest
  } = raw;
  const script = { ...rest, replies: readReplies(replies ?? {}) } as ScriptSource;
  return {
    name,
    definition,
    library,
    unchecked,
    inputs,
    env,
    project,
    persona,
    script,
    expect,
    shared: new Set(shared),
    at,
  };
}

class BadReply extends Error {}

export type Replies = { [pattern: string]: ScriptedReply | ScriptedReply[] };

/** Throws a sentence about what is no reply. */
export function readReplies(replies: JsonObject): Replies {
  return Object.fromEntries(
    Object.entries(replies).map(([pattern, given]) => {
      if (Array.isArray(given) && given.length === 0)
        throw new BadReply(`replies."${pattern}" is an empty list; give one reply for each call`);
      return [pattern, Array.isArray(given) ? given.map((one) => readReply(pattern, one)) : readReply(pattern, given)];
    }),
  );
}

function readReply(pattern: string, given: Json): ScriptedReply {
  if (!isJsonObject(given) || typeof given['ok'] !== 'boolean') return { ok: true, value: given };
  const full = FullReply.safeParse(given);
  if (!full.success) throw new BadReply(`replies."${pattern}": ${mistakesOf(full.error).join('; ')}`);
  return full.data as ScriptedReply;
}

/** A sentence for each finding of the schema. */
export function mistakesOf(error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  );
}
