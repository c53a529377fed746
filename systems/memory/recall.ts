/** What is closest to a question: candidates by signs and by words, ranked exactly by likeness, recency and goal. */
import { projectOfModel } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';
import { withoutNul } from '../../prisma/store/connection/jsonb-text.ts';
import { meaningsOf } from './meanings.ts';
import { COLUMNS, type Memory, type Row, toMemory } from './store.ts';
import { closeness, signsOf, vectorOf } from './vectors.ts';

/** Candidates by the signs of their vectors, and by their words. */
const candidatesMax = 200;
/** After so many days a memory counts half as recent. */
const HALF_LIFE_DAYS = 30;
const DAY_MS = 86_400_000;
/** What each part adds to a score. */
const WEIGHTS = { similarity: 0.7, recency: 0.15, goal: 0.15 };
/** How much of the similarity is the share of the words; the rest is how close the vectors are. A model knows other words for the same. */
const WORDS = { besideHashing: 0.5, besideModel: 0.2 };
/** Below that, texts have nothing in common but chance. */
const SIMILAR = 0.08;

export interface Recalled extends Memory {
  score: number;
  parts: { similarity: number; recency: number; goal: number };
  /** What made the vectors that were compared. */
  embedding: string;
}

interface Asked {
  persona: string;
  query: string;
  type?: string | undefined;
  goal?: string | undefined;
  limit: number;
}

/** A text by hashing, and by the model where it has answered. */
interface Text {
  hashed: number[];
  meaning: number[] | null;
}

interface Candidate extends Row {
  vector: number[];
  meaning: number[] | null;
  embedding: string;
  /** Which part of the words of the query it has. */
  shared: number;
}

/** The best first. */
export async function recall(context: Context, { query, goal, limit, ...asked }: Asked): Promise<Recalled[]> {
  const texts = goal === undefined ? [query] : [query, goal];
  const model = await meaningsOf(context, texts);
  const [queried, meant = null] = texts.map((text, at): Text => ({
    hashed: vectorOf(text),
    meaning: model?.vectors[at] ?? null,
  }));
  if (queried === undefined) return [];
  const by = model?.by ?? null;
  const found = await candidates(context, { ...asked, query, queried, by });
  const now = context.now();
  return found
    .map((one) => ranked(one, { queried, meant, by, now }))
    .filter(({ parts }) => parts.similarity >= SIMILAR)
    .toSorted((a, b) => b.score - a.score || b.at - a.at)
    .slice(0, limit);
}

function candidates(
  context: Context,
  { persona, query, type, queried, by }: Omit<Asked, 'goal' | 'limit'> & { queried: Text; by: string | null },
): Promise<Candidate[]> {
  return context.tx.query<Candidate>(
    `with asked as (
       select lexemes, (select string_agg('''' || replace(replace(l, '\\', '\\\\'), '''', '''''') || '''', ' | ')
         from unnest(lexemes) as l)::tsquery as query
       from (select tsvector_to_array(to_tsvector('english', $2 || ' ' || regexp_replace($2, '[^[:alnum:]]+', ' ', 'g'))) as lexemes) as found
     ), mine as not materialized (
       select m.seq, m.signs, m.words, case when m.embedder = $6 then m.meaning_signs end as meaning from memory_entries m
       where m.persona = $1 and ($3::text is null or m.type = $3) and m.is_useful
         and ($4::text is null or m.project is null or m.project = $4)
     ), chosen as (
       (select seq from mine where mine.meaning is null order by bit_count(mine.signs # $5::bit(256)), seq desc limit ${candidatesMax})
       union
       (select seq from mine where mine.meaning is not null order by bit_count(mine.meaning # $7::varbit), seq desc limit ${candidatesMax})
       union
       (select seq from mine, asked where mine.words @@ asked.query order by ts_rank(mine.words, asked.query) desc, seq desc limit ${candidatesMax})
     )
     select ${COLUMNS}, m.vector, m.embedding, case when m.embedder = $6 then m.meaning end as meaning,
       cardinality(array(select unnest(asked.lexemes) intersect select unnest(tsvector_to_array(m.words))))::float8
         / greatest(cardinality(asked.lexemes), 1) as shared
     from chosen join memory_entries m on m.seq = chosen.seq, asked`,
    [
      persona,
      withoutNul(query),
      type === undefined ? null : withoutNul(type),
      projectOfModel(context),
      signsOf(queried.hashed),
      by,
      queried.meaning === null ? null : signsOf(queried.meaning),
    ],
  );
}

/** Vectors of one maker, and of no two. */
const near = (text: Text, { vector, meaning }: Candidate): number =>
  text.meaning !== null && meaning !== null ? closeness(text.meaning, meaning) : closeness(text.hashed, vector);

function ranked(
  one: Candidate,
  { queried, meant, by, now }: { queried: Text; meant: Text | null; by: string | null; now: number },
): Recalled {
  const { vector: _, meaning, embedding, shared, ...row } = one;
  const made = meaning === null ? null : by;
  const words = made === null ? WORDS.besideHashing : WORDS.besideModel;
  const parts = {
    similarity: rounded((1 - words) * near(queried, one) + words * shared),
    recency: rounded(2 ** (-Math.max(0, now - row.at.getTime()) / (HALF_LIFE_DAYS * DAY_MS))),
    goal: rounded(meant === null ? 0 : near(meant, one)),
  };
  const score = rounded(
    WEIGHTS.similarity * parts.similarity + WEIGHTS.recency * parts.recency + WEIGHTS.goal * parts.goal,
  );
  return { ...toMemory(row), score, parts, embedding: made ?? embedding };
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
