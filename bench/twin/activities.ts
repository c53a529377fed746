/** The work of the hand-written workflows: the same as the commands' own, without Sentinel around it. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import type { JsonObject } from '../../language/json.ts';
import { runShell } from '../bare-shell.ts';
import { askModel, clientOf, perform, type Called, type ChatMessage } from '../agents/bare.ts';

export interface TwinActivities {
  'bench/noop'(params: JsonObject): Promise<JsonObject>;
  readFile(path: string): Promise<string>;
  readRow(id: string): Promise<JsonObject | null>;
  writeRow(index: number): Promise<string>;
  runShell(index: number): Promise<string>;
  askModel(model: string, messages: ChatMessage[]): Promise<{ message: ChatMessage; call: Called | null }>;
  perform(call: Called): Promise<string>;
}

export const noop = (): Promise<JsonObject> => Promise.resolve({});

export function twinActivities(databaseUrl: string, project: string, modelUrl: string): TwinActivities {
  const pool = new Pool({ connectionString: databaseUrl, max: 10 });
  const client = clientOf(modelUrl);
  return {
    'bench/noop': noop,
    readFile: (path) => readFile(join(project, path), 'utf8'),
    async readRow(id) {
      const found = await pool.query<{ data: JsonObject }>('select data from bench_rows where id = $1', [id]);
      return found.rows[0]?.data ?? null;
    },
    async writeRow(index) {
      const id = randomUUID();
      await pool.query('insert into bench_rows (id, data) values ($1, $2)', [id, JSON.stringify({ index })]);
      return id;
    },
    runShell: (index) => runShell(index, project),
    askModel: (model, messages) => askModel(client, model, messages),
    perform: (call) => perform(call, { url: modelUrl, project }),
  };
}

/** The table that twin and peer read and write. */
export async function createTwinTable(databaseUrl: string): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl, max: 1 });
  await pool.query('create table if not exists bench_rows (id text primary key, data jsonb not null)');
  await pool.query(
    `insert into bench_rows (id, data) values ('row', '{"text": "a row to read", "number": 3}') on conflict do nothing`,
  );
  await pool.end();
}
