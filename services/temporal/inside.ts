/** What both sides of a door know. */
import { readlinkSync } from 'node:fs';
import { PORTS, TO_WEB_UI } from '../config/ports.ts';

/** Ports inside, where no other server is. */
export const INSIDE = { port: PORTS.temporal, uiPort: PORTS.temporal + TO_WEB_UI } as const;

/** The name of the network that this process is in. */
export function networkOfOurs(): string {
  return readlinkSync('/proc/self/ns/net');
}
