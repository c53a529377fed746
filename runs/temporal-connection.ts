/**
 * A connection to Temporal, and how values go there and come from there: sealed, and those that are large by
 * the store. Apart from connect.ts, so that only those who need one load the library.
 */
import { randomUUID } from 'node:crypto';
import { Client, type Connection, type ConnectionLike, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type DataConverter } from '@temporalio/common';
import { defined } from '../language/defined.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { connectionOptions, type Config } from '../services/config/config.ts';
import { payloadStorage } from '../prisma/store/values/payload-driver.ts';
import type { SealKeys } from '../services/config/seal-key.ts';
import { openKeys } from '../services/seal/open-keys.ts';
import { PayloadSeal } from '../services/seal/payload-seal.ts';
import { openConnection } from '../services/temporal/open-connection.ts';
import { isOfTemporal, type SentMessage } from '../workflows/messages/sent-message.ts';
import { unsealed } from '../workflows/messages/unsealed.ts';

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
  const connection = await openConnection(connectionOptions(config), CONNECT_MAX_MS);
  try {
    const { namespace } = config.temporal;
    const keys = await openKeys(config, store);
    return { connection, client: sealedClient({ connection, namespace, store, keys }) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface ClientParts {
  connection: ConnectionLike;
  namespace: string;
  store: Pick<Store, 'payloads'>;
  keys: SealKeys;
  /** What Temporal calls whoever uses it; absent: by process and host. */
  identity?: string;
}

export function sealedClient({ connection, namespace, store, keys, identity }: ClientParts): Client {
  return new Client({
    connection,
    namespace,
    ...defined({ identity }),
    dataConverter: dataConverter(store, keys),
    interceptors: { workflow: [inOneValue] },
  });
}

/** Messages go out as runs take them (workflows/seal/admission.ts). */
const inOneValue: WorkflowClientInterceptor = {
  signal: (input, next) => next({ ...input, args: [sent(input.signalName, input.args)] }),
  startUpdate: (input, next) => next({ ...input, args: [sent(input.updateName, input.args)] }),
  query: (input, next) =>
    next(isOfTemporal(input.queryType) ? input : { ...input, args: [sent(input.queryType, input.args)] }),
};

const sent = (to: string, args: readonly unknown[]): SentMessage => ({ to, id: randomUUID(), at: Date.now(), args });

export function dataConverter(store: Pick<Store, 'payloads'>, keys: SealKeys): DataConverter {
  return { payloadCodecs: [payloadSeal(keys)], externalStorage: payloadStorage(store) };
}

const payloadSeal = (keys: SealKeys): PayloadSeal =>
  new PayloadSeal({ keys, refused: (finding) => defaultPayloadConverter.toPayload(unsealed(finding)) });

/** Opens what the client's Temporal holds, of any run. */
export function viewerOf({ options }: Pick<Client, 'options'>): PayloadSeal {
  const own = options.loadedDataConverter.payloadCodecs.find((codec) => codec instanceof PayloadSeal);
  if (own === undefined) throw new Error('bug: a client without a seal');
  return own.viewer();
}
