/** What an MCP server of Sentinel's stands on. */
import type { SentinelClient } from '../client.ts';

export interface Served {
  client: SentinelClient;
  /** Where its runs work. */
  project: string;
  /** Who they belong to. */
  persona: string;
  allowApprove: boolean;
}
