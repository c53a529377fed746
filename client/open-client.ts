/** The client as this package itself uses it: with the store, and what schedules and triggers are made with. */
import type { Store } from '../prisma/store/contract/contract.ts';
import type { RunServices } from '../runs/start-run.ts';
import { SentinelClient } from './client.ts';
import { connectionsOf } from './connect.ts';

export class OpenClient extends SentinelClient {
  store(): Promise<Store> {
    return connectionsOf(this).store();
  }

  /** The store if it answers now; starts nothing. */
  storeIfUp(): Promise<Store | null> {
    return connectionsOf(this).storeIfUp();
  }

  /** What schedules, triggers and forks are made with; everything is up after this, where it may be started. */
  parts(host?: string, project?: string): Promise<RunServices> {
    return connectionsOf(this).runServices(host, project);
  }
}
