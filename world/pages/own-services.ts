/** The services that this worker uses, by where they are: those of its home, and servers elsewhere that it was given. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { placeOf } from './addresses.ts';
import { PORTS, TO_WEB_UI } from '../../services/config/ports.ts';

interface Server {
  host: string;
  ports: readonly number[];
}

export async function isOwnService(
  address: string,
  port: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const isHere = placeOf(address) === 'here';
  if (isHere && ownPorts(env).includes(port)) return true;
  const meant = serversIn(env).filter(({ ports }) => ports.includes(port));
  const at = await Promise.all(meant.map(({ host }) => addressesOf(host)));
  return at.flat().some((own) => own === address || (isHere && placeOf(own) === 'here'));
}

function serversIn({ TEMPORAL_ADDRESS, SENTINEL_WEB_URL, DATABASE_URL }: NodeJS.ProcessEnv): Server[] {
  const temporal = serverOf(TEMPORAL_ADDRESS === undefined ? undefined : `tcp://${TEMPORAL_ADDRESS}`, PORTS.temporal);
  return [
    ...temporal.flatMap(({ host, ports: [port = 0] }) => [{ host, ports: [port, port + TO_WEB_UI] }]),
    ...serverOf(SENTINEL_WEB_URL, SENTINEL_WEB_URL?.startsWith('https') === true ? 443 : 80),
    ...serverOf(DATABASE_URL, PORTS.postgres),
  ];
}

function serverOf(url: string | undefined, port: number): Server[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { hostname, port: own } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return host === '' ? [] : [{ host, ports: [own === '' ? port : Number(own)] }];
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  return lookup(host, { all: true, verbatim: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  );
}

/** What the supervisor writes into its home; of servers that are somebody else's it has no ports. */
const Services = z.object({
  temporal: z.object({ port: z.number().nullable(), uiPort: z.number().nullable() }).nullable(),
});

/** Ports of this host on which services of Sentinel listen, as the worker knows them. */
function ownPorts(env: NodeJS.ProcessEnv = process.env): number[] {
  const { temporal } = servicesIn(env['SENTINEL_HOME']);
  const listener = Number(env['SENTINEL_WEBHOOK_PORT'] ?? PORTS.webhooks);
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
