/** What both sides of a door know. */
import { readlinkSync } from 'node:fs';

/** Ports inside, where no other server is. */
export const INSIDE = { port: 7233, uiPort: 8233 } as const;

/** The name of the network that this process is in. */
export function networkOfOurs(): string {
  return readlinkSync('/proc/self/ns/net');
}
