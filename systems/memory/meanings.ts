/**
 * Vectors by the model that the project names for it, beside those by hashing that every memory has from the start: made
 * after a memory was stored, and again where another model is named. What makes them is said with each, and no vector is
 * held against one that something else has made.
 *
 * - V1 Embedding in the background holds no transaction while the model is asked: one finds texts, and a later one keeps
 *      what it made. A recall may wait within the transaction of its segment, for a bounded time.
 * - V2 What has no vector yet is found in the rows: whoever comes after a process that died goes on there.
 * - V3 One process at a time embeds for a project, for as long as it says so.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { noEmbedding, type Embed, type Embedded } from '../../world/models/embedding.ts';
import { TurnError } from '../../world/models/port/turn-failure.ts';
import { signsOf } from './vectors.ts';

/** Of a text; models of sentences read no more. */
const textMax = 2_000;
const batchMax = 64;
/** A batch takes no longer; a model may have to be loaded first. */
const BATCH_MS = 10 * 60_000;
/** After the last word of a process that embeds, another one does. */
const CLAIM_SECONDS = 60;
/** A recall goes on without the model after so long: a step, and a person, for whom it may have to be loaded. */
const STEP_WAIT_MS = 2_000;
const PERSON_WAIT_MS = 20_000;
/** After it has not answered in time, no recall waits for it. */
const SILENT_MS = 30_000;

const PROCESS = randomUUID();

/** Who makes the vectors of this process, once one was made. */
const makers = new WeakMap<Embed, string>();
/** Since when a model has not answered: by `performance.now()`. */
const silentSince = new WeakMap<Embed, number>();

async function embedBy(embed: Embed, texts: readonly string[], signal: AbortSignal): Promise<Embedded | null> {
  const made = await embed(
    texts.map((text) => text.slice(0, textMax)),
    signal,
  );
  silentSince.delete(embed);
  if (made !== null) makers.set(embed, made.by);
  return made;
}

/** Of what is asked for; null where no model is named, or it does not answer now, or did not a moment ago. */
export async function meaningsOf(context: Context, texts: readonly string[]): Promise<Embedded | null> {
  const { embed } = context.worker;
  if (embed === noEmbedding || performance.now() - (silentSince.get(embed) ?? -SILENT_MS) < SILENT_MS) return null;
  const waitMs = context.caller.kind === 'step' ? STEP_WAIT_MS : PERSON_WAIT_MS;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]);
  try {
    return await embedBy(embed, texts, signal);
  } catch (error) {
    context.signal.throwIfAborted();
    if (signal.aborted) silentSince.set(embed, performance.now());
    if (error instanceof TurnError || signal.aborted) return null;
    throw error;
  }
}

interface Waiting {
  seq: string;
  text: string;
  digest: string;
}

/** What a text is worth: a vector, or null where the model does not take it. */
interface Kept extends Waiting {
  by: string;
  vector: number[] | null;
}

/** A batch that the model is asked for, or what came of it. */
interface Batch {
  made?: Kept[];
  failure?: unknown;
}

const batches = new WeakMap<Embed, Batch>();

/** Of these texts alone the model has no vector, and is not asked again. */
const REFUSED = new Set(['bad-request', 'context-too-long', 'content-refused']);

async function keptOf(embed: Embed, waiting: readonly Waiting[], signal: AbortSignal): Promise<Kept[]> {
  try {
    const texts = waiting.map(({ text }) => text);
    const made = await embedBy(embed, texts, signal);
    return made === null ? [] : waiting.map((one, at) => ({ ...one, by: made.by, vector: made.vectors[at] ?? null }));
  } catch (error) {
    const by = makers.get(embed);
    if (!(error instanceof TurnError) || !REFUSED.has(error.finding.kind) || by === undefined) throw error;
    if (waiting.length === 1) return waiting.map((one) => ({ ...one, by, vector: null }));
  }
  // Which of them it does not take shows by asking for each.
  const each: Kept[] = [];
  for (const one of waiting) each.push(...(await keptOf(embed, [one], signal)));
  return each;
}

/** Who makes the vectors is known once it has made one. */
const PROBE: Waiting = { seq: '0', text: '.', digest: '' };

function begin(embed: Embed, waiting: readonly Waiting[]): void {
  const batch: Batch = {};
  batches.set(embed, batch);
  void keptOf(embed, waiting, AbortSignal.timeout(BATCH_MS)).then(
    (made) => (batch.made = made),
    (failure: unknown) => (batch.failure = failure),
  );
}

export const embedding: Command = defineCommand({
  name: 'memory/embed',
  description:
    'Makes the vectors of memories by the model that the project names for it, where they are missing or of another model.',
  permission: 'write',
  speed: 'quick',
  doors: ['background'],
  params: z.strictObject({}),
  result: z.strictObject({ embedded: z.number(), isUnderWay: z.boolean() }),
  async run(_, context) {
    const { embed } = context.worker;
    const batch = batches.get(embed);
    const by = makers.get(embed);
    if (batch !== undefined && batch.made === undefined && batch.failure === undefined) {
      if (by !== undefined) await claim(by, context);
      return { embedded: 0, isUnderWay: true };
    }
    batches.delete(embed);
    if (batch?.failure !== undefined) throw batch.failure;
    const made = (batch?.made ?? []).filter(({ seq }) => seq !== PROBE.seq);
    if (made.length > 0) await keep(made, context);
    const waiting = by === undefined ? await probeOf(context) : await nextOf(by, context);
    if (waiting.length > 0) begin(embed, waiting);
    return { embedded: made.length, isUnderWay: waiting.length > 0 };
  },
});

/** A model that may have to be loaded is not asked who it is while there is nothing for it. */
async function probeOf({ tx, run }: Context): Promise<Waiting[]> {
  const found = await tx.query('select 1 from memory_entries where project is null or project = $1 limit 1', [
    run.project,
  ]);
  return found.map(() => PROBE);
}

/** What is to be embedded now; nothing where another process is at it. */
async function nextOf(by: string, context: Context): Promise<Waiting[]> {
  await name(by, context);
  const waiting = await withoutVector(by, context);
  return waiting.length > 0 && (await claim(by, context)) ? waiting : [];
}

/** Says that the project has this embedder, and no other. */
async function name(by: string, { tx, run }: Context): Promise<void> {
  await tx.query(
    `with named as (
       insert into memory_embedders (project, embedder) values ($1, $2)
       on conflict (project, embedder) do update set is_current = true where not memory_embedders.is_current
     )
     update memory_embedders set is_current = false where project = $1 and embedder <> $2 and is_current`,
    [run.project, by],
  );
}

/** The text behind its type and tags, which say nothing in words of a language. */
const CONTENT = `substr(m.text, length(array_to_string(array_prepend(m.type, m.tags), ' ')) + 2)`;

/**
 * What is of this project or of none and has no vector; what is of this project and has one of another embedder; and what
 * is of no project and has one of an embedder that no project names any more.
 */
async function withoutVector(by: string, { tx, run }: Context): Promise<Waiting[]> {
  return tx.query<Waiting>(
    `select m.seq, left(${CONTENT}, ${textMax}) as text, md5(m.text) as digest from (
       (select seq from memory_entries where embedder is null and (project is null or project = $1)
        order by seq limit ${batchMax})
       union all
       (select seq from memory_entries where project = $1 and (embedder < $2 or embedder > $2)
        order by seq limit ${batchMax})
       union all
       (select seq from memory_entries where project is null and embedder in
          (select embedder from memory_embedders group by embedder having not bool_or(is_current))
        order by seq limit ${batchMax})
     ) as found join memory_entries m using (seq) limit ${batchMax}`,
    [run.project, by],
  );
}

/** False: another process embeds for the project. */
async function claim(by: string, { tx, run }: Context): Promise<boolean> {
  const rows = await tx.query(
    `update memory_embedders set busy_by = $3, busy_until = clock_timestamp() + make_interval(secs => ${CLAIM_SECONDS})
     where project = $1 and embedder = $2 and (busy_by is null or busy_by = $3 or busy_until < clock_timestamp()) returning 1`,
    [run.project, by, PROCESS],
  );
  return rows.length > 0;
}

/** Where the text has not changed meanwhile. */
async function keep(made: readonly Kept[], { tx }: Context): Promise<void> {
  await tx.query(
    `update memory_entries m set embedder = k.by, meaning = k.meaning::real[], meaning_signs = k.signs::varbit
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) as k(seq, digest, by, meaning, signs)
     where m.seq = k.seq and md5(m.text) = k.digest`,
    [
      made.map(({ seq }) => seq),
      made.map(({ digest }) => digest),
      made.map(({ by }) => by),
      made.map(({ vector }) => (vector === null ? null : `{${vector.join(',')}}`)),
      made.map(({ vector }) => (vector === null ? null : signsOf(vector))),
    ],
  );
}
