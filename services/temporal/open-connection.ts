/**
 * A connection of Temporal's client, over a port or over a socket. The client takes no address of a socket, so it
 * is given a channel to one.
 */
import { Channel, type ChannelCredentials, type ClientOptions } from '@grpc/grpc-js';
import { isIPv4 } from 'node:net';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import type { TemporalConnectionOptions } from '../config/config.ts';
import { socketIn } from '../processes/sockets.ts';

export function openConnection(options: TemporalConnectionOptions, connectTimeout: number): Promise<Connection> {
  return Connection.connect({ ...clientOptions(options), connectTimeout });
}

/** A proxy leads out of this machine. gRPC asks the one that the environment names in small letters, for loopback as well. */
const WITHOUT_PROXY = { 'grpc.enable_http_proxy': 0 };

function clientOptions(options: TemporalConnectionOptions): ConnectionOptions {
  if (socketIn(options.address) === null)
    return isThisMachine(options.address) ? { ...options, channelArgs: WITHOUT_PROXY } : options;
  const channelFactoryOverride = (_: string, credentials: ChannelCredentials, channel: ClientOptions): Channel =>
    new Channel(options.address, credentials, { ...channel, ...WITHOUT_PROXY });
  return { channelArgs: { channelFactoryOverride } };
}

/** By the name alone: `host:port`, an IPv6 host in brackets. */
export function isThisMachine(address: string): boolean {
  const host = address.replace(/:\d+$/, '').toLowerCase();
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
