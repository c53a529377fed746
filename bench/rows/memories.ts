/**
 * What `memory/recall` takes of a persona that remembers a hundred thousand things, beside a scan in SQL that ranks all
 * of them by the same score; and how often both find the same. The texts are sentences of made-up words, a few of which
 * a question shares with one memory: what people ask in other words is no part of it.
 */
import { Client } from 'pg';
import { quickContext } from '../../operations/quick-context.ts';
import type { RunPort } from '../../operations/command.ts';
import { builtInRegistry } from '../../systems/built-in.ts';
import { EMBEDDING, signsOf, vectorOf } from '../../systems/memory/vectors.ts';
import { bounded, informed, median, shown, type Row } from '../report.ts';
import { randomFrom } from '../../test/server/harness/random.ts';
import type { World } from '../world.ts';

const PERSONA = 'bench-memories';
const limit = 3;
const batch = 1_000;
const costMax = 0.5;
const missedMax = 5;

/** As `memory/recall` scores without a goal; all are as recent as each other. */
const SCAN = `with asked as (
    select tsvector_to_array(to_tsvector('english', $2 || ' ' || regexp_replace($2, '[^[:alnum:]]+', ' ', 'g'))) as lexemes)
  select m.id,
    0.5 * (select sum(a * b) from unnest(m.vector, $3::real[]) as both_of(a, b))
    + 0.5 * cardinality(array(select unnest(asked.lexemes) intersect select unnest(tsvector_to_array(m.words))))::float8
      / greatest(cardinality(asked.lexemes), 1) as score
  from memory_entries m, asked where m.persona = $1 and m.is_useful order by score desc, m.seq desc limit ${limit}`;

/** Repeats as it is. */
function drawn(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => Math.floor(random() * below);
}

const SYLLABLES = ['ba', 'ke', 'lo', 'mi', 'nu', 'ra', 'se', 'to', 'vi', 'zu', 'dan', 'fel', 'gor', 'hix'];

function wordsOf(draw: (below: number) => number, count: number): string[] {
  const words = new Set<string>();
  while (words.size < count)
    words.add(Array.from({ length: 2 + draw(3) }, () => SYLLABLES[draw(SYLLABLES.length)]).join(''));
  return [...words];
}

/** The questions: of every so many memories one, by four of its twelve words. */
async function fill(client: Client, all: number, questions: number): Promise<string[]> {
  const draw = drawn(7);
  const words = wordsOf(draw, 5_000);
  const asked: string[] = [];
  for (let from = 0; from < all; from += batch) {
    const rows = Array.from({ length: Math.min(batch, all - from) }, (_, nth) => {
      // Few words are common and most are rare, as in a language.
      const said = Array.from({ length: 12 }, () => words[Math.min(draw(5_000), draw(5_000))] ?? '');
      const at = from + nth;
      if (at % Math.floor(all / questions) === 0) asked.push([0, 3, 6, 9].map((w) => said[w]).join(' '));
      const text = said.join(' ');
      const vector = vectorOf(text);
      return { id: `bench-memory-${at}`, text, vector: `{${vector.join(',')}}`, signs: signsOf(vector) };
    });
    await client.query(
      `insert into memory_entries (id, persona, type, text, content, tags, embedding, vector, signs, made_by, by_model)
       select r.id, $1, 'note', r.text, to_json(r.text), '{}', $2, r.vector::real[], r.signs::bit(256), $1, false
       from json_to_recordset($3) as r(id text, text text, vector text, signs text)`,
      [PERSONA, EMBEDDING, JSON.stringify(rows)],
    );
  }
  await client.query('vacuum analyze memory_entries');
  return asked;
}

const noRuns = new Proxy({}, { get: () => () => Promise.reject(new Error('a recall starts no run')) }) as RunPort;
const registry = builtInRegistry();

async function ours({ store }: World, query: string): Promise<string[]> {
  const session = store.session();
  const run = { handle: 'bench', project: '/', persona: PERSONA, definitionHash: '' };
  const context = quickContext({ run, key: 'bench', store, session, runPort: noRuns, timeoutMs: 60_000 });
  try {
    const found = (await registry.run('memory/recall', { query, limit }, context)) as { id: string }[];
    return found.map(({ id }) => id);
  } finally {
    await session.close();
  }
}

async function scan(client: Client, query: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'scan of memories',
    text: SCAN,
    values: [PERSONA, query, vectorOf(query)],
  });
  return rows.map(({ id }) => id);
}

async function timed<Value>(times: number[], work: () => Promise<Value>): Promise<Value> {
  const startedAt = performance.now();
  const value = await work();
  times.push(performance.now() - startedAt);
  return value;
}

export async function memories(world: World, quick: boolean): Promise<Row[]> {
  const [all, questions] = quick ? [10_000, 12] : [100_000, 12];
  const client = new Client({ connectionString: world.stage.databaseUrl });
  await client.connect();
  try {
    const asked = await fill(client, all, questions);
    const [oursMs, scanMs]: [number[], number[]] = [[], []];
    let [missed, same] = [0, 0];
    for (const query of asked) {
      const found = await timed(oursMs, () => ours(world, query));
      const exact = await timed(scanMs, () => scan(client, query));
      if (exact[0] !== undefined && !found.includes(exact[0])) missed += 1;
      same += exact.filter((id) => found.includes(id)).length / Math.max(1, exact.length);
    }
    const name = `recall of ${all} memories`;
    const note = `${shown(median(oursMs))} ms beside ${shown(median(scanMs))} ms`;
    return [
      bounded(`${name}, of a scan's`, { value: median(oursMs) / median(scanMs), unit: 'x', atMost: costMax, note }),
      bounded(`${name}: the scan's first is not among the first ${limit}`, {
        value: (100 * missed) / asked.length,
        unit: '%',
        atMost: missedMax,
        note: `${missed} of ${asked.length} questions`,
      }),
      informed(
        `${name}: of the scan's first ${limit} found`,
        `${shown((100 * same) / asked.length)} % of ${asked.length} questions`,
      ),
    ];
  } finally {
    await client.query('delete from memory_entries where persona = $1', [PERSONA]);
    await client.end();
  }
}
