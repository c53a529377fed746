/**
 * Prisma, loaded when a listing first asks for it: importing and starting it costs more than a
 * command's whole start-up may, and the statements of a run's hot path never need it.
 */
import type { PrismaClient } from '../../generated/client.ts';
import type { Database } from './database.ts';

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

  async #load(): Promise<PrismaClient> {
    const [generated, adapter] = await Promise.all([import('../../generated/client.ts'), import('@prisma/adapter-pg')]);
    return new generated.PrismaClient({ adapter: new adapter.PrismaPg(this.#database.pool) });
  }
}
