/**
 * Definitions by content: the same content is one row for ever, a new content is a new version of its name. What no
 * person saves is kept by its hash alone: no name leads to it, and it is no version of any.
 */
import { LRUCache } from 'lru-cache';
import type { Definition } from '../../../language/model.ts';
import { contentHash } from './content-hash.ts';
import { KEPT_VERSION, type Store, type StoredDefinition } from '../contract/contract.ts';
import { queryOn } from '../connection/database.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

const LIST_MAX = 1_000;
const SAVED_MAX = 500;
const COLUMNS = 'hash, name, version, definition, created_at as "createdAt"';

interface Row {
  hash: string;
  name: string;
  version: number;
  definition: unknown;
  createdAt: Date;
}

function toDefinition(row: Row): StoredDefinition {
  const definition = row.definition as Definition;
  return { ...row, name: isKept(row) ? definition.name : row.name, definition, createdAt: row.createdAt.getTime() };
}

/** Its row has the hash in place of a name. */
const isKept = ({ name, hash }: Pick<Row, 'name' | 'hash'>): boolean => name === hash;

type Saving = Pick<Store['definitions'], 'save' | 'publish' | 'keep'>;
type Finding = Omit<Store['definitions'], keyof Saving>;

export const definitions = (database: Database): Store['definitions'] => ({
  ...saving(database),
  ...finding(database),
});

async function findByHash(database: Database, hash: string): Promise<StoredDefinition | null> {
  const [row] = await database.query<Row>(`select ${COLUMNS} from definitions where hash = $1`, [hash]);
  return row === undefined ? null : toDefinition(row);
}

function found(row: StoredDefinition | null, name: string): StoredDefinition {
  if (row === null) throw new Error(`the definition "${name}" was deleted while it was being saved; save it again`);
  return row;
}

function saving(database: Database): Saving {
  /** What a row says of its definition never changes, and no row is deleted: what was seen once is there. */
  const saved = new LRUCache<string, StoredDefinition>({ max: SAVED_MAX });
  const remember = (definition: StoredDefinition): StoredDefinition => {
    if (definition.version !== KEPT_VERSION) saved.set(definition.hash, definition);
    return definition;
  };

  async function save(definition: Definition): Promise<StoredDefinition> {
    const hash = contentHash(definition);
    const known = saved.get(hash) ?? (await findByHash(database, hash));
    if (known !== null && known.version !== KEPT_VERSION) return remember(known);
    const name = withoutNul(definition.name);
    await database.transaction(async (client) => {
      // One writer a name at a time, so that versions count up without holes.
      await queryOn(client, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
      await queryOn(
        client,
        `insert into definitions (hash, name, version, definition, saved_at)
           select $1, $2, 1 + coalesce(max(version), 0), $3::json, clock_timestamp() from definitions where name = $2
           on conflict (hash) do update
             set name = excluded.name, version = excluded.version, saved_at = excluded.saved_at
             where definitions.name = definitions.hash`,
        [hash, name, JSON.stringify(definition)],
      );
    });
    return remember(found(await findByHash(database, hash), name));
  }

  return {
    save,

    async keep(definition) {
      const hash = contentHash(definition);
      const known = saved.get(hash);
      if (known !== undefined) return known;
      await database.query(
        `insert into definitions (hash, name, version, definition) values ($1, $1, ${KEPT_VERSION}, $2::json)
         on conflict (hash) do nothing`,
        [hash, JSON.stringify(definition)],
      );
      return found(await findByHash(database, hash), definition.name);
    },

    async publish(definition) {
      const stored = await save(definition);
      await database.query('update definitions set saved_at = clock_timestamp() where hash = $1', [stored.hash]);
      return stored;
    },
  };
}

async function firstOf(database: Database, condition: string, nameOrHash: string): Promise<StoredDefinition | null> {
  const [row] = await database.query<Row>(
    `select ${COLUMNS} from definitions where ${condition}
     order by hash = $1 desc, saved_at desc, version desc limit 1`,
    [withoutNul(nameOrHash)],
  );
  return row === undefined ? null : toDefinition(row);
}

function finding(database: Database): Finding {
  return {
    find: (nameOrHash) => firstOf(database, 'hash = $1 or (name = $1 and saved_at is not null)', nameOrHash),

    findSaved: (nameOrHash) => firstOf(database, '(hash = $1 or name = $1) and saved_at is not null', nameOrHash),

    async list() {
      const rows = await database.query<Row>(
        `select distinct on (name) ${COLUMNS} from definitions where saved_at is not null
         order by name, saved_at desc, version desc limit $1`,
        [LIST_MAX],
      );
      return rows.map(toDefinition);
    },

    async versions(name) {
      const rows = await database.query<Row>(
        `select ${COLUMNS} from definitions where name = $1 order by version desc limit $2`,
        [withoutNul(name), LIST_MAX],
      );
      return rows.map(toDefinition);
    },

    async forget(name, session) {
      const forget = 'update definitions set saved_at = null where name = $1 and saved_at is not null returning hash';
      const values = [withoutNul(name)];
      const rows = await (session === undefined ? database.query(forget, values) : session.write(forget, values));
      return rows.length > 0;
    },
  };
}
