/**
 * A worker's connection to Temporal. What goes over a network is compressed, as the SDK does it by
 * itself; between two processes of one machine that would only cost both of them processor time. A socket is
 * dialled by Temporal's core as a proxy on the way to the server, which its options cannot say: they know proxies
 * by host and port alone.
 */
import { native } from '@temporalio/core-bridge';
import { NativeConnection, Runtime, type NativeConnectionOptions } from '@temporalio/worker';
import { toNativeClientOptions } from '@temporalio/worker/lib/connection-options.js';
import type { TemporalConnectionOptions } from '../services/config/config.ts';
import { isThisMachine } from '../services/temporal/open-connection.ts';
import { addressOfSocket, socketIn } from '../services/processes/sockets.ts';

export function connectWorker(options: TemporalConnectionOptions): Promise<NativeConnection> {
  const socket = socketIn(options.address);
  return socket === null ? NativeConnection.connect(nativeOptions(options)) : SocketConnection.over(socket);
}

type NewClient = typeof native.newClient;
type Client = Awaited<ReturnType<NewClient>>;

class SocketConnection extends NativeConnection {
  static async over(socket: string): Promise<NativeConnection> {
    const runtime = Runtime.instance();
    const options = {
      ...toNativeClientOptions({ grpcCompression: { codec: 'none' } }),
      httpConnectProxy: { targetHost: addressOfSocket(socket), basicAuth: null },
    };
    // The runtime is to count it among what it ends for.
    const client = await runtime['createNative']<Client, Parameters<NewClient>, NewClient>(
      native.newClient,
      runtime.native,
      options,
    );
    return new SocketConnection(runtime, client, false, []);
  }
}

export function nativeOptions(options: TemporalConnectionOptions): NativeConnectionOptions {
  return isThisMachine(options.address) ? { ...options, grpcCompression: { codec: 'none' } } : options;
}
