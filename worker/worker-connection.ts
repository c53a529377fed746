/**
 * A worker's connection to Temporal. What goes over a network is compressed, as the SDK does it by
 * itself; between two processes of one machine that would only cost both of them processor time.
 */
import { isIPv4 } from 'node:net';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { TemporalConnectionOptions } from '../services/config/config.ts';

export function connectWorker(options: TemporalConnectionOptions): Promise<NativeConnection> {
  return NativeConnection.connect(nativeOptions(options));
}

export function nativeOptions(options: TemporalConnectionOptions): NativeConnectionOptions {
  return isThisMachine(options.address) ? { ...options, grpcCompression: { codec: 'none' } } : options;
}

/** By the name alone: `host:port`, an IPv6 host in brackets. */
function isThisMachine(address: string): boolean {
  const host = address.replace(/:\d+$/, '').toLowerCase();
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
