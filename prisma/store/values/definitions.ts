/** Definitions by content: the same content is one row for ever, a new content is a new version. */
import { LRUCache } from 'lru-cache';
import type { Definition } from '../../../language/model.ts';
import { contentHash } from './content-hash.ts';
import type { Store, StoredDefinition } from '../contract/contract.ts';
import { queryOn } from '../connection/database.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { LazyPrisma } from '../connection/prisma-client.ts';

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
  return { ...row, definition: row.definition as Definition, createdAt: row.createdAt.getTime() };
}

export function definitions(database: Database, prisma: LazyPrisma): Store['definitions'] {
  async function findByHash(hash: string): Promise<StoredDefinition | null> {
    const [row] = await database.query<Row>(`select ${COLUMNS} from definitions where hash = $1`, [hash]);
    return row === undefined ? null : toDefinition(row);
  }

  /** Rows are never changed or deleted, so what was seen once is there. */
  const saved = new LRUCache<string, StoredDefinition>({ max: SAVED_MAX });
  const remember = (definition: StoredDefinition): StoredDefinition => {
    saved.set(definition.hash, definition);
    return definition;
  };

  return {
    async save(definition) {
      const hash = contentHash(definition);
      const known = saved.get(hash) ?? (await findByHash(hash));
      if (known !== null) return remember(known);
      const name = withoutNul(definition.name);
      await database.transaction(async (client) => {
        // One writer a name at a time, so that versions count up without holes.
        await queryOn(client, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
        await queryOn(
          client,
          `insert into definitions (hash, name, version, definition)
           select $1, $2, 1 + coalesce(max(version), 0), $3::json from definitions where name = $2
           on conflict (hash) do nothing`,
          [hash, name, JSON.stringify(definition)],
        );
      });
      const row = await findByHash(hash);
      if (row === null)
        throw new Error(`definition "${name}" (${hash}) was deleted while it was being saved; save it again`);
      return remember(row);
    },

    async find(nameOrHash) {
      const [row] = await database.query<Row>(
        `select ${COLUMNS} from definitions where hash = $1 or name = $1 order by hash = $1 desc, version desc limit 1`,
        [withoutNul(nameOrHash)],
      );
      return row === undefined ? null : toDefinition(row);
    },

    async list() {
      const client = await prisma.get();
      const rows = await client.definition.findMany({
        orderBy: [{ name: 'asc' }, { version: 'desc' }],
        take: LIST_MAX,
      });
      return rows.map(toDefinition);
    },
  };
}
