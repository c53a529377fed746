/**
 * Prisma, for the queries of prisma/store/lasting/. It is loaded when one is first made: that takes longer than a
 * whole verb that prints a list.
 */
import type { PrismaClient } from '../../generated/client.ts';
import { connectionConfig, type Database } from './database.ts';

const CONNECTIONS_MAX = 2;

export class LazyPrisma {
  readonly #database: Database;
  #client: Promise<PrismaClient> | undefined;
  #hasAnswered = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Asked once by ourselves: of a database that cannot be used, Prisma says less than the driver does. */
  async get(): Promise<PrismaClient> {
    if (!this.#hasAnswered) await this.#database.query('select 1', []);
    this.#hasAnswered = true;
    this.#client ??= this.#load();
    return this.#client;
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.$disconnect();
  }

  /** Its adapter takes the offset off the times that it reads and writes, so its connections are in UTC. */
  async #load(): Promise<PrismaClient> {
    const [generated, { PrismaPg }] = await Promise.all([
      import('../../generated/client.ts'),
      import('@prisma/adapter-pg'),
    ]);
    const adapter = new PrismaPg({
      ...connectionConfig(this.#database.url),
      max: CONNECTIONS_MAX,
      // The pool waits for it, which its types do not say.
      onConnect: (client): unknown => client.query("set timezone = 'UTC'"),
    });
    return new generated.PrismaClient({ adapter });
  }
}
