/** Ports of this host on which services of Sentinel listen, as the worker knows them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const webhooks = 7246;

/** What the supervisor writes into its home; of servers that are somebody else's it has no ports. */
const Services = z.object({
  temporal: z.object({ port: z.number().nullable(), uiPort: z.number().nullable() }).nullable(),
});

export function ownPorts(env: NodeJS.ProcessEnv = process.env): number[] {
  const { temporal } = servicesIn(env['SENTINEL_HOME']);
  const listener = Number(env['SENTINEL_WEBHOOK_PORT'] ?? webhooks);
  return [temporal?.uiPort, temporal?.port, listener].filter((port): port is number => Number.isInteger(port));
}

function servicesIn(home: string | undefined): z.infer<typeof Services> {
  const none = { temporal: null };
  if (home === undefined || home === '') return none;
  try {
    const read = Services.safeParse(JSON.parse(readFileSync(join(home, 'services.json'), 'utf8')));
    return read.success ? read.data : none;
  } catch {
    // A worker on services of somebody else has none.
    return none;
  }
}
