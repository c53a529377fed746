/**
 * A cassette: the requests of a run to models and what came of each, as a file that people read. What repeats
 * stands once: models and lists of tools are named by their place in the lists at the top, and a request that
 * goes on with an earlier one says which, and how many of its messages are the same.
 */
import * as z from 'zod';
import type { JsonObject } from '../../../language/json.ts';
import { digestOf, type RecordedModel, type RecordedOutcome, type RequestForm } from './request-form.ts';

const CASSETTE_VERSION = 1;

/** One request, whole. */
export interface CassetteEntry {
  digest: string;
  at: { run: string; key: string; turn: number };
  request: RequestForm;
  /** Null where no model could be found. */
  model: RecordedModel | null;
  outcome: RecordedOutcome;
}

export interface Cassette {
  name: string;
  definitionHash: string;
  entries: CassetteEntry[];
}

const Row = z.looseObject({});
const Place = z.number().int().nonnegative();

const Model = z.looseObject({
  name: z.string(),
  provider: z.string(),
  model: z.string(),
  facts: z.looseObject({ window: z.number().nullable(), tools: z.boolean() }),
  reason: z.string().nullable(),
  notices: z.array(z.string()),
});

const Message = z.looseObject({
  role: z.enum(['user', 'assistant']),
  blocks: z.array(z.looseObject({ type: z.string() })),
});

const Tokens = z
  .int()
  .nonnegative()
  .max(2 ** 31 - 1);
const Usage = z.looseObject({
  input: Tokens,
  output: Tokens,
  cacheRead: Tokens,
  cacheWrite: Tokens,
  thinking: Tokens,
  estimated: z.boolean(),
});

const Reply = z.looseObject({
  blocks: z.array(z.looseObject({ type: z.string() })),
  stopReason: z.string(),
  usage: Usage,
  model: z.string(),
  author: z.string(),
  requestId: z.string().nullable(),
  omitted: z.array(z.string()),
});

const Request = z.looseObject({
  model: z.string().min(1),
  tools: Place.optional(),
  continues: z.strictObject({ entry: Place, messages: Place }).optional(),
  messages: z.array(Message),
});

const Entry = z.strictObject({
  digest: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
  at: z.strictObject({ run: z.string(), key: z.string(), turn: z.number().int().positive() }),
  model: Place.nullable(),
  request: Request,
  reply: Reply.optional(),
  failure: z.looseObject({ kind: z.string(), message: z.string(), provider: z.string(), model: z.string() }).optional(),
});

const File = z.strictObject({
  sentinelCassette: z.literal(
    CASSETTE_VERSION,
    `must be ${CASSETTE_VERSION}, which is the version of cassettes that this version reads`,
  ),
  run: z.strictObject({ name: z.string(), definitionHash: z.string() }),
  models: z.array(Model),
  tools: z.array(z.array(Row)),
  requests: z.array(Entry),
});
type CassetteFile = z.infer<typeof File>;

export type CassetteRead = { ok: true; cassette: Cassette } | { ok: false; problems: string[] };

/** Each problem names its place. */
export function readCassette(text: string): CassetteRead {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [`it is no JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const read = File.safeParse(value);
  if (!read.success)
    return { ok: false, problems: read.error.issues.map(({ path, message }) => `${placeOf(path)}: ${message}`) };
  // As it was parsed: a copy by zod would have its fields in another order.
  return wholeEntries(value as CassetteFile);
}

const placeOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text === '' ? '' : '.'}${String(part)}`),
    '',
  ) || 'the file';

function wholeEntries({ run, models, tools, requests }: CassetteFile): CassetteRead {
  const problems: string[] = [];
  const entries: CassetteEntry[] = [];
  for (const [index, one] of requests.entries()) {
    const place = `requests[${index}]`;
    const { tools: list, continues, messages, ...rest } = one.request;
    const earlier = continues === undefined ? undefined : entries[continues.entry]?.request.messages;
    const before = earlier?.slice(0, continues?.messages) ?? [];
    if (continues !== undefined && before.length !== continues.messages)
      problems.push(
        `${place}.request.continues: there is no earlier request ${continues.entry} with ${continues.messages} messages`,
      );
    const model = one.model === null ? null : models[one.model];
    if (model === undefined) problems.push(`${place}.model: there is no models[${one.model}]`);
    if (list !== undefined && tools[list] === undefined)
      problems.push(`${place}.request.tools: there is no tools[${list}]`);
    if ((one.reply === undefined) === (one.failure === undefined))
      problems.push(`${place}: it must hold either a reply or a failure`);
    const request = {
      ...rest,
      ...(list === undefined ? {} : { tools: tools[list] ?? [] }),
      messages: [...before, ...messages],
    } as unknown as RequestForm;
    const found = digestOf(request);
    if (problems.length === 0 && found !== one.digest)
      problems.push(
        `${place}.digest: the request was changed since it was recorded (its digest is ${found}); record again`,
      );
    const outcome = one.reply === undefined ? { failure: one.failure } : { reply: one.reply };
    entries.push({
      digest: one.digest,
      at: one.at,
      request,
      model: (model ?? null) as unknown as RecordedModel | null,
      outcome: outcome as unknown as RecordedOutcome,
    });
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, cassette: { ...run, entries } };
}

/** The text of the file. */
export function cassetteText({ name, definitionHash, entries }: Cassette): string {
  const [models, tools] = [new Listed(), new Listed()];
  const requests = entries.map(({ digest, at, request, model, outcome }, index) => {
    const { tools: list, messages, ...rest } = request;
    const shared = sharedWith(entries.slice(0, index), at, messages);
    return {
      digest,
      at,
      model: model === null ? null : models.placeOf(model),
      request: {
        ...rest,
        ...(list === undefined ? {} : { tools: tools.placeOf(list) }),
        ...(shared === null ? {} : { continues: shared }),
        messages: messages.slice(shared?.messages ?? 0),
      },
      ...outcome,
    };
  });
  const file = {
    sentinelCassette: CASSETTE_VERSION,
    run: { name, definitionHash },
    models: models.values,
    tools: tools.values,
    requests,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

class Listed {
  readonly values: unknown[] = [];
  readonly #places = new Map<string, number>();

  placeOf(value: unknown): number {
    const text = JSON.stringify(value);
    const place = this.#places.get(text) ?? this.values.push(value) - 1;
    this.#places.set(text, place);
    return place;
  }
}

/** The latest request of the same conversation, and how many of its messages come first in these. */
function sharedWith(
  before: readonly CassetteEntry[],
  at: CassetteEntry['at'],
  messages: readonly JsonObject[],
): { entry: number; messages: number } | null {
  const entry = before.findLastIndex(({ at: { run, key } }) => run === at.run && key === at.key);
  const earlier = before[entry]?.request.messages ?? [];
  let same = 0;
  while (
    same < earlier.length &&
    same < messages.length &&
    JSON.stringify(earlier[same]) === JSON.stringify(messages[same])
  )
    same += 1;
  return same === 0 ? null : { entry, messages: same };
}
