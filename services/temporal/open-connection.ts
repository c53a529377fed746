/**
 * A connection of Temporal's client, over a port or over a socket. The client takes no address of a socket, so it
 * is given a channel to one.
 */
import { Channel, type ChannelCredentials, type ClientOptions } from '@grpc/grpc-js';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import type { TemporalConnectionOptions } from '../config/config.ts';
import { socketIn } from '../processes/sockets.ts';

export function openConnection(options: TemporalConnectionOptions, connectTimeout: number): Promise<Connection> {
  return Connection.connect({ ...clientOptions(options), connectTimeout });
}

function clientOptions(options: TemporalConnectionOptions): ConnectionOptions {
  if (socketIn(options.address) === null) return options;
  const channelFactoryOverride = (_: string, credentials: ChannelCredentials, channel: ClientOptions): Channel =>
    new Channel(options.address, credentials, channel);
  return { channelArgs: { channelFactoryOverride } };
}
