/**
 * Tables of systems (system-contract.ts).
 *
 * Invariants: a piece of SQL and its row in the books are one transaction; one process applies at a time; what is
 * applied makes and changes nothing but relations that begin with the name of their system.
 */
import { createHash } from 'node:crypto';
import { DatabaseError, escapeLiteral, type PoolClient } from 'pg';
import { queryOn, type Database } from '../connection/database.ts';
import { background } from './background.ts';
import { TablesRefused, type SystemTables, type Tables } from '../contract/system-contract.ts';

const LOCK = "select pg_advisory_xact_lock(hashtext('sentinel system tables'))";

interface Piece {
  name: string;
  sql: string;
  checksum: string;
}

const piecesOf = (tables: Tables): Piece[] =>
  Object.entries(tables).map(([name, sql]) => ({
    name,
    sql,
    checksum: createHash('sha256').update(sql).digest('hex'),
  }));

/** What the names of its tables, indexes and sequences begin with. */
export const prefixOf = (system: string): string => `${system.replaceAll('-', '_')}_`;

export function systemTables(database: Database): SystemTables {
  const known = (system: string): Promise<Applied[]> =>
    database.query<Applied>('select name, checksum from system_tables where system = $1', [system]);
  return {
    ...background(database),
    async apply(system, tables) {
      const pieces = piecesOf(tables);
      if (missing(system, pieces, await known(system)).length === 0) return [];
      const applied: string[] = [];
      for (const piece of pieces)
        if (await database.transaction((client) => applyPiece(client, system, piece))) applied.push(piece.name);
      return applied;
    },
    async list() {
      const rows = await database.query<{ system: string }>('select distinct system from system_tables', []);
      return rows.map(({ system }) => system);
    },
  };
}

interface Applied {
  name: string;
  checksum: string;
}

function missing(system: string, pieces: readonly Piece[], applied: readonly Applied[]): Piece[] {
  return pieces.filter((piece) => {
    const before = applied.find(({ name }) => name === piece.name);
    if (before === undefined) return true;
    if (before.checksum === piece.checksum) return false;
    throw new TablesRefused(
      `the tables "${piece.name}" of the system "${system}" were changed after they had been applied; put the old text back, and the change into a new entry`,
    );
  });
}

/** False: another process has applied it meanwhile. */
async function applyPiece(client: PoolClient, system: string, piece: Piece): Promise<boolean> {
  await client.query(LOCK);
  const applied = await queryOn<Applied>(client, 'select name, checksum from system_tables where system = $1', [
    system,
  ]);
  if (missing(system, [piece], applied).length === 0) return false;
  const before = await others(client, system);
  try {
    // Within a block, whose end is not the SQL's to say.
    await client.query(`do ${escapeLiteral(`begin execute ${escapeLiteral(piece.sql)}; end`)}`);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new TablesRefused(
      `the tables "${piece.name}" of the system "${system}" cannot be made, and nothing of them was kept: ${error.message}; correct the SQL`,
      { cause: error },
    );
  }
  await refuseForeign(client, system, piece, before);
  await queryOn(client, 'insert into system_tables (system, name, checksum) values ($1, $2, $3)', [
    system,
    piece.name,
    piece.checksum,
  ]);
  return true;
}

interface Relation {
  name: string;
  isChanged: boolean;
}

const others = (client: PoolClient, system: string): Promise<Relation[]> =>
  queryOn<Relation>(
    client,
    `select relname::text as name, xmin = pg_current_xact_id_if_assigned()::xid as "isChanged" from pg_class
     where relnamespace = current_schema()::regnamespace and not starts_with(relname, $1) order by relname`,
    [prefixOf(system)],
  );

async function refuseForeign(
  client: PoolClient,
  system: string,
  piece: Piece,
  before: readonly Relation[],
): Promise<void> {
  const after = await others(client, system);
  const names = new Set(after.map(({ name }) => name));
  const touched = [
    ...after.filter(({ isChanged }) => isChanged).map(({ name }) => name),
    ...before.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  ];
  if (touched.length === 0) return;
  throw new TablesRefused(
    `the tables "${piece.name}" of the system "${system}" would make or change "${touched[0]}", and nothing of them was kept; names of its tables and indexes begin with "${prefixOf(system)}", and it changes no others`,
  );
}
