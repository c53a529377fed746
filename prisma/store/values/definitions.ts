/**
 * Definitions by content: the same content is one row for ever, a new content is a new version of its name. What no
 * person saves is kept by its hash alone: no name leads to it, and it is no version of any. Whose a name is, and what it
 * finds for whom, is that of saved sentinels (saved-sentinels.ts).
 */
import { LRUCache } from 'lru-cache';
import type { Definition } from '../../../language/model.ts';
import { contentHash } from './content-hash.ts';
import { KEPT_VERSION, type Store, type StoredDefinition } from '../contract/contract.ts';
import { NOBODYS, type Saving, type Seeker } from '../contract/sentinel-contract.ts';
import { queryOn } from '../connection/database.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { RANK, saveSentinel, type Ask } from './saved-sentinels.ts';

const LIST_MAX = 1_000;
const SAVED_MAX = 500;
const COLUMNS = 'd.hash, d.name, d.version, d.definition, d.created_at as "createdAt"';

interface Row {
  hash: string;
  name: string;
  version: number;
  definition: unknown;
  createdAt: Date;
}

function toDefinition(row: Row): StoredDefinition {
  const { hash, name, version, createdAt } = row;
  const definition = row.definition as Definition;
  return { hash, name: isKept(row) ? definition.name : name, version, definition, createdAt: createdAt.getTime() };
}

/** Its row has the hash in place of a name. */
const isKept = ({ name, hash }: Pick<Row, 'name' | 'hash'>): boolean => name === hash;

type Keeping = Pick<Store['definitions'], 'save' | 'publish' | 'keep'>;
type Finding = Omit<Store['definitions'], keyof Keeping>;

export const definitions = (database: Database): Store['definitions'] => ({
  ...saving(database),
  ...finding(database),
});

async function findByHash(database: Database, hash: string): Promise<StoredDefinition | null> {
  const [row] = await database.query<Row>(`select ${COLUMNS} from definitions d where d.hash = $1`, [hash]);
  return row === undefined ? null : toDefinition(row);
}

function found(row: StoredDefinition | null, name: string): StoredDefinition {
  if (row === null) throw new Error(`bug: the definition "${name}" is not there after it was saved`);
  return row;
}

/** A version that its owner has saved already, whatever the name finds now. */
async function savedBefore(database: Database, hash: string, { persona, project }: Seeker): Promise<boolean> {
  const rows = await database.query(
    `select 1 from saved_versions v join saved_sentinels s on s.id = v.sentinel
     where v.hash = $1 and s.persona = $2 and s.project = $3`,
    [hash, withoutNul(persona), withoutNul(project)],
  );
  return rows.length > 0;
}

const keyOf = (hash: string, { persona, project }: Seeker): string => JSON.stringify([hash, persona, project]);

function saving(database: Database): Keeping {
  /**
   * By hash, and by hash and owner. What a row says of its definition never changes, and no row is deleted: what was seen
   * once is there.
   */
  const saved = new LRUCache<string, StoredDefinition>({ max: SAVED_MAX });
  const remember = (by: Seeker, stored: StoredDefinition): StoredDefinition => {
    saved.set(keyOf(stored.hash, by), stored);
    saved.set(stored.hash, stored);
    return stored;
  };
  const write = async (definition: Definition, by: Saving, moves: boolean): Promise<StoredDefinition> => {
    const hash = contentHash(definition);
    await database.transaction((client) =>
      saveSentinel((...asked) => queryOn(client, ...asked), definition, { by, moves }),
    );
    return remember(by, found(await findByHash(database, hash), definition.name));
  };

  return {
    async save(definition, by = NOBODYS) {
      const hash = contentHash(definition);
      const known = saved.get(keyOf(hash, by));
      if (known !== undefined) return known;
      if (!(await savedBefore(database, hash, by))) return write(definition, by, false);
      return remember(by, found(await findByHash(database, hash), definition.name));
    },

    publish: (definition, by = NOBODYS) => write(definition, by, true),

    async keep(definition) {
      const hash = contentHash(definition);
      const known = saved.get(hash);
      if (known !== undefined) return known;
      await database.query(
        `insert into definitions (hash, name, version, definition) values ($1, $1, ${KEPT_VERSION}, $2::json)
         on conflict do nothing`,
        [hash, JSON.stringify(definition)],
      );
      return found(await findByHash(database, hash), definition.name);
    },
  };
}

const seekerOf = (seeker: Seeker | undefined): (string | null)[] =>
  seeker === undefined ? [null, null] : [withoutNul(seeker.persona), withoutNul(seeker.project)];

/** By its hash before its name. */
async function firstOf(
  ask: Ask,
  nameOrHash: string,
  { seeker, among = 'true' }: { seeker: Seeker | undefined; among?: string },
): Promise<StoredDefinition | null> {
  const [row] = await ask<Row>(
    `select * from (
       select ${COLUMNS}, 0 as place from definitions d where d.hash = $1 and ${among}
       union all
       (select ${COLUMNS}, 1 as place from saved_sentinels s join definitions d on d.hash = s.hash
        where s.name = $1 and s.saved_at is not null order by ${RANK('$2', '$3')} limit 1)
     ) as found order by place limit 1`,
    [withoutNul(nameOrHash), ...seekerOf(seeker)],
  );
  return row === undefined ? null : toDefinition(row);
}

const IS_SAVED = `exists (select 1 from saved_versions v join saved_sentinels o on o.id = v.sentinel
  where v.hash = d.hash and o.saved_at is not null)`;

function finding(database: Database): Finding {
  const ask: Ask = (text, values) => database.query(text, values);
  return {
    find: (nameOrHash, seeker) => firstOf(ask, nameOrHash, { seeker }),

    findSaved: (nameOrHash, seeker) => firstOf(ask, nameOrHash, { seeker, among: IS_SAVED }),

    async list(seeker) {
      const rows = await database.query<Row>(
        `select distinct on (s.name) ${COLUMNS} from saved_sentinels s join definitions d on d.hash = s.hash
         where s.saved_at is not null order by s.name, ${RANK('$1', '$2')} limit ${LIST_MAX}`,
        seekerOf(seeker),
      );
      return rows.map(toDefinition);
    },

    async versions(name, seeker) {
      const rows = await database.query<Row>(
        `select ${COLUMNS} from saved_versions v join definitions d on d.hash = v.hash
         where v.sentinel = (select s.id from saved_sentinels s where s.name = $1 and s.saved_at is not null
           order by ${RANK('$2', '$3')} limit 1)
         order by d.version desc limit ${LIST_MAX}`,
        [withoutNul(name), ...seekerOf(seeker)],
      );
      return rows.map(toDefinition);
    },

    async forget(name, seeker, session) {
      const forget = `update saved_sentinels set saved_at = null where saved_at is not null
        and id = (select s.id from saved_sentinels s where s.name = $1 and s.saved_at is not null
          order by ${RANK('$2', '$3')} limit 1) returning id`;
      const values = [withoutNul(name), ...seekerOf(seeker)];
      const rows = await (session === undefined ? database.query(forget, values) : session.write(forget, values));
      return rows.length > 0;
    },
  };
}
