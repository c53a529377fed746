/** A connection to Temporal; apart from connect.ts, so that only those who need one load the library. */
import { Client, Connection } from '@temporalio/client';
import type { Store } from '../prisma/store/contract/contract.ts';
import { payloadStorage } from '../prisma/store/values/payload-driver.ts';
import { connectionOptions, type Config } from '../services/config/config.ts';

const CONNECT_MAX_MS = 10_000;

export interface Temporal {
  connection: Connection;
  client: Client;
}

/** Of the namespace that the client works in. Its name may be that of another, on another server; its id never is. */
export async function namespaceId(client: Client): Promise<string> {
  const { namespace } = client.options;
  const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
  return namespaceInfo?.id ?? '';
}

export async function connectTemporal(config: Config, store: Store): Promise<Temporal> {
  const connection = await Connection.connect({ ...connectionOptions(config), connectTimeout: CONNECT_MAX_MS });
  const { namespace } = config.temporal;
  const client = new Client({ connection, namespace, dataConverter: { externalStorage: payloadStorage(store) } });
  return { connection, client };
}
