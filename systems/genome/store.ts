/** Rows of the genome. `Reads` is whoever asks: a transaction, or a session before there is one. */
import type { Json, JsonObject } from '../../language/json.ts';
import type { Context } from '../../operations/command.ts';
import type { Verdict } from './verdict.ts';

export interface AdapterRow {
  id: string;
  name: string;
  baseAsked: string;
  basePath: string;
  baseHash: string;
  manifest: JsonObject;
  dataset: string;
  /** SHA-256 of the rows that were held out for its gate. */
  heldOut: string | null;
  match: 'exact' | 'contains';
  project: string;
}

export type Read = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** A long command asks before its transaction, which rests while the trainer works. */
export const readsBefore =
  ({ session }: Context): Read =>
  (text, values) =>
    session.read(text, values);

export const reads =
  ({ tx }: Context): Read =>
  (text, values) =>
    tx.query(text, values);

const ADAPTER = `a.id, a.name, a.base_asked as "baseAsked", a.base_path as "basePath", a.base_hash as "baseHash", a.manifest,
  a.dataset, a.held_out as "heldOut", a.match, a.project`;

export async function adapterOf(read: Read, id: string): Promise<AdapterRow | null> {
  const [found] = await read<AdapterRow>(`select ${ADAPTER} from genome_adapters a where a.id = $1`, [id]);
  return found ?? null;
}

/** Hashes of the rows that were held out for the adapters of a project. */
export async function heldOutIn(read: Read, project: string): Promise<string[]> {
  const found = await read<{ hash: string }>(
    'select distinct held_out as hash from genome_adapters where project = $1 and held_out is not null order by 1',
    [project],
  );
  return found.map(({ hash }) => hash);
}

export async function keepAdapter({ tx, run }: Context, row: Omit<AdapterRow, 'project'>): Promise<void> {
  const { id, name, baseAsked, basePath, baseHash, manifest, dataset, heldOut, match } = row;
  await tx.query(
    `insert into genome_adapters
       (id, name, base_asked, base_path, base_hash, manifest, dataset, held_out, match, persona, handle, project)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (id) do nothing`,
    [
      id,
      name,
      baseAsked,
      basePath,
      baseHash,
      JSON.stringify(manifest),
      dataset,
      heldOut,
      match,
      run.persona,
      run.handle,
      run.project,
    ],
  );
}

export async function gateOf(read: Read, adapter: string): Promise<Verdict | null> {
  const [found] = await read<{ verdict: Verdict }>('select verdict from genome_gates where adapter = $1', [adapter]);
  return found?.verdict ?? null;
}

export async function keepGate({ tx }: Context, adapter: string, verdict: Verdict): Promise<void> {
  await tx.query(
    'insert into genome_gates (adapter, has_passed, verdict) values ($1, $2, $3) on conflict (adapter) do nothing',
    [adapter, verdict.passed, JSON.stringify(verdict)],
  );
}

export async function keepLayer(
  { tx, run }: Context,
  { id, domain, claimed, origin = null }: { id: string; domain: string; claimed: Json; origin?: Json },
): Promise<void> {
  await tx.query(
    `insert into genome_layers (id, domain, claimed, origin, persona, project) values ($1, $2, $3, $4, $5, $6)
     on conflict (id) do update set domain = excluded.domain, claimed = excluded.claimed`,
    [id, domain, JSON.stringify(claimed), origin === null ? null : JSON.stringify(origin), run.persona, run.project],
  );
}

export interface TagRow {
  layer: string;
  project: string;
}

/** What a tag has named, the latest first. */
export const tagRows = (read: Read, tag: string): Promise<TagRow[]> =>
  read<TagRow>('select layer, project from genome_tags where tag = $1 order by position desc limit 100', [tag]);

export async function keepTag({ tx, run }: Context, tag: string, layer: string): Promise<void> {
  await tx.query('insert into genome_tags (tag, layer, persona, project) values ($1, $2, $3, $4)', [
    tag,
    layer,
    run.persona,
    run.project,
  ]);
}

export interface LayerRow extends AdapterRow {
  domain: string;
  claimed: Json;
  /** From where it was imported. */
  origin: Json;
  verdict: Verdict;
  registeredBy: string;
  at: Date | string;
  tags: string[];
}

const CURRENT_TAGS = `select distinct on (tag) tag, layer from genome_tags order by tag, position desc`;

const LAYERS = `select ${ADAPTER}, l.domain, l.claimed, l.origin, g.verdict, l.persona as "registeredBy", l.at,
    coalesce((select json_agg(t.tag order by t.tag) from (${CURRENT_TAGS}) t where t.layer = l.id), '[]') as tags
  from genome_layers l join genome_adapters a on a.id = l.id join genome_gates g on g.adapter = l.id`;

/** The newest first. */
export const layers = (
  read: Read,
  { domain = null, base = null }: { domain?: string | null; base?: string | null },
): Promise<LayerRow[]> =>
  read<LayerRow>(
    `${LAYERS} where ($1::text is null or l.domain = $1)
       and ($2::text is null or $2 in (a.base_asked, a.manifest->>'baseModel', a.base_hash))
     order by l.at desc, l.id limit 1000`,
    [domain, base],
  );

/** Those of these ids that are layers, in their order. */
export const layersOf = (read: Read, ids: readonly string[]): Promise<LayerRow[]> =>
  read<LayerRow>(`${LAYERS} where l.id = any($1::text[]) order by array_position($1::text[], l.id)`, [ids]);

/** A layer by its id or by a tag; an adapter that is none yet by its id alone. No tag stands for what another one's id says. */
export async function layerNamed(read: Read, name: string): Promise<AdapterRow | null> {
  const found = await adapterOf(read, name);
  if (found !== null) return found;
  const [tagged] = await tagRows(read, name);
  return tagged === undefined ? null : adapterOf(read, tagged.layer);
}

export interface Scaled {
  layer: string;
  scale: number;
}

export interface CompositionRow {
  id: string;
  baseAsked: string;
  baseHash: string;
  layers: Scaled[];
}

const COMPOSITION = 'c.id, c.base_asked as "baseAsked", c.base_hash as "baseHash", c.layers';

export async function compositionOf(read: Read, id: string): Promise<CompositionRow | null> {
  const [found] = await read<CompositionRow>(`select ${COMPOSITION} from genome_compositions c where c.id = $1`, [id]);
  return found ?? null;
}

export async function keepComposition({ tx, run }: Context, made: CompositionRow): Promise<void> {
  await tx.query(
    `insert into genome_compositions (id, base_asked, base_hash, layers, persona) values ($1, $2, $3, $4, $5)
     on conflict (id) do nothing`,
    [made.id, made.baseAsked, made.baseHash, JSON.stringify(made.layers), run.persona],
  );
}

/** What a persona uses now; null: nothing. */
export async function activeOf(read: Read, persona: string): Promise<CompositionRow | null> {
  const [found] = await read<CompositionRow | { id: null }>(
    `select ${COMPOSITION} from genome_active x left join genome_compositions c on c.id = x.composition
     where x.persona = $1 order by x.position desc limit 1`,
    [persona],
  );
  return found === undefined || found.id === null ? null : found;
}

/** What the run has trained so far is over with it. */
export async function keepActive(
  { tx, run }: Context,
  persona: string,
  composition: string | null,
  by: string,
): Promise<void> {
  await tx.query('insert into genome_active (persona, composition, by) values ($1, $2, $3)', [
    persona,
    composition,
    by,
  ]);
  await tx.query("update genome_trainings set state = 'over' where handle = $1 and state = 'trained'", [run.handle]);
}
