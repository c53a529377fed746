/**
 * Memories of personas.
 *
 * - M1 What is made from a source is made once for a persona.
 * - M2 What is recalled says where it is from: who made it, in which run, whether a model did, and who shared it.
 * - M3 A model reads what its own persona remembers from its own project, and what persons told it.
 */
import { hash } from 'node:crypto';
import type { Json } from '../../language/json.ts';
import { projectOfModel } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';
import { withoutNul } from '../../prisma/store/connection/jsonb-text.ts';
import { EMBEDDING, signsOf, vectorOf } from './vectors.ts';

/** Of a text that is indexed; Postgres takes no more than 1 MiB of words. */
const textMax = 20_000;
export interface NewMemory {
  persona: string;
  type: string;
  content: Json;
  tags: readonly string[];
  /** What it is made from; absent: the step that stores it. */
  source?: string;
  isUseful?: boolean;
  origin: Origin;
}

export interface Origin {
  by: string;
  /** The run; null: a person outside of runs. */
  handle: string | null;
  byModel: boolean;
  project: string | null;
}

export interface Memory {
  id: string;
  type: string;
  content: Json;
  tags: string[];
  at: number;
  origin: { by: string; handle: string | null; byModel: boolean; sharedFrom: string | null };
}

export interface Row {
  id: string;
  type: string;
  content: Json;
  tags: string[];
  at: Date;
  madeBy: string;
  handle: string | null;
  byModel: boolean;
  sharedFrom: string | null;
}

export const COLUMNS = `m.id, m.type, m.content, m.tags, m.at, m.made_by as "madeBy", m.handle, m.by_model as "byModel", m.shared_from as "sharedFrom"`;

export const toMemory = ({ at, madeBy, handle, byModel, sharedFrom, ...row }: Row): Memory => ({
  id: row.id,
  type: row.type,
  content: row.content,
  tags: row.tags,
  at: at.getTime(),
  origin: { by: madeBy, handle, byModel, sharedFrom },
});

const textOf = ({ type, tags, content }: NewMemory): string =>
  withoutNul([type, ...tags, typeof content === 'string' ? content : JSON.stringify(content)].join(' ')).slice(
    0,
    textMax,
  );

const idOf = (persona: string, source: string): string =>
  `memory-${hash('sha256', `${persona}\n${source}`).slice(0, 16)}`;

type Made = NewMemory & { source: string };

/** `others`: what becomes of a memory that was made from the source before. Null: nothing was written. */
async function write({ tx }: Context, memory: Made, others: string): Promise<string | null> {
  const { persona, type, content, tags, source, isUseful = true, origin } = memory;
  const text = textOf(memory);
  const vector = vectorOf(text);
  const [row] = await tx.query<{ id: string }>(
    `insert into memory_entries (id, persona, type, text, content, tags, embedding, vector, signs, is_useful, made_by, handle, by_model, project, source)
     values ($1, $2, $3, $4, $5, $6::text[], $7, $8::real[], $9::bit(256), $10, $11, $12, $13, $14, $15)
     on conflict (persona, source) do ${others} returning id`,
    [
      idOf(persona, source),
      persona,
      withoutNul(type),
      text,
      JSON.stringify(content),
      tags.map(withoutNul),
      EMBEDDING,
      vector,
      signsOf(vector),
      isUseful,
      withoutNul(origin.by),
      origin.handle,
      origin.byModel,
      origin.project,
      withoutNul(source),
    ],
  );
  return row?.id ?? null;
}

/** False: it is there already, and nothing was changed. */
export async function remember(context: Context, memory: Made): Promise<{ id: string; isNew: boolean }> {
  const id = await write(context, memory, 'nothing');
  return { id: id ?? idOf(memory.persona, memory.source), isNew: id !== null };
}

/** Makes what was made from the source anew, as of now. */
export async function renew(context: Context, memory: Made): Promise<void> {
  const anew = ['text', 'content', 'tags', 'embedding', 'vector', 'signs', 'is_useful', 'handle'];
  const set = anew.map((column) => `${column} = excluded.${column}`).join(', ');
  const gone = ['embedder', 'meaning', 'meaning_signs'].map((column) => `${column} = null`).join(', ');
  await write(context, memory, `update set ${set}, ${gone}, at = current_timestamp`);
}

/** Of what was made from a source before; null where there is none. */
export async function contentOf({ tx }: Context, persona: string, source: string): Promise<Json> {
  const [row] = await tx.query<{ content: Json }>(
    'select content from memory_entries where persona = $1 and source = $2 for update',
    [persona, withoutNul(source)],
  );
  return row?.content ?? null;
}

/** Of what was made from the source: what it holds, and not what it is found by. */
export async function update(
  { tx }: Context,
  {
    persona,
    source,
    content,
    isUseful,
    origin,
  }: Required<Pick<NewMemory, 'persona' | 'source' | 'content' | 'isUseful' | 'origin'>>,
): Promise<void> {
  await tx.query(
    `update memory_entries set content = $3, is_useful = $4, handle = $5, at = current_timestamp where persona = $1 and source = $2`,
    [persona, withoutNul(source), JSON.stringify(content), isUseful, origin.handle],
  );
}

export interface Which {
  id?: string | undefined;
  type?: string | undefined;
  tags?: readonly string[] | undefined;
}

const CHOSEN = `m.persona = $1 and ($2::text is null or m.id = $2) and ($3::text is null or m.type = $3) and m.tags @> $4::text[]`;

const chosenBy = (persona: string, { id = '', type = '', tags = [] }: Which): unknown[] => [
  persona,
  id === '' ? null : withoutNul(id),
  type === '' ? null : withoutNul(type),
  tags.map(withoutNul),
];

/** Those of any use, the newest first. */
export async function memories(context: Context, persona: string, which: Which, limit: number): Promise<Memory[]> {
  const rows = await context.tx.query<Row>(
    `select ${COLUMNS} from memory_entries m where ${CHOSEN} and m.is_useful and ($5::text is null or m.project is null or m.project = $5)
     order by m.at desc, m.seq desc limit $6`,
    [...chosenBy(persona, which), projectOfModel(context), limit],
  );
  return rows.map(toMemory);
}

export async function forget({ tx }: Context, persona: string, which: Which): Promise<number> {
  const rows = await tx.query(`delete from memory_entries m where ${CHOSEN} returning 1`, chosenBy(persona, which));
  return rows.length;
}

/** Copies what the other does not have from there yet. How many. */
export async function share(
  { tx }: Context,
  { from, to, by, which }: { from: string; to: string; by: string; which: Which },
): Promise<number> {
  const rows = await tx.query(
    `insert into memory_entries (id, persona, type, text, content, tags, embedding, vector, signs, embedder, meaning, meaning_signs, is_useful, made_by, handle, by_model, shared_from, project, source, at)
     select 'memory-' || substr(encode(sha256(convert_to($5 || chr(10) || 'shared:' || m.id, 'UTF8')), 'hex'), 1, 16), $5, m.type, m.text, m.content, m.tags,
       m.embedding, m.vector, m.signs, m.embedder, m.meaning, m.meaning_signs, m.is_useful, $6, m.handle, m.by_model, $1, m.project, 'shared:' || m.id, m.at
     from memory_entries m where ${CHOSEN} and m.is_useful
     on conflict (persona, source) do nothing returning 1`,
    [...chosenBy(from, which), to, withoutNul(by)],
  );
  return rows.length;
}
