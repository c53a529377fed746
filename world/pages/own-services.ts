/** The services that this worker uses, by where they are: those of its home, and servers elsewhere that it was given. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ownPorts } from './own-ports.ts';
import { placeOf } from './addresses.ts';

/** From the port of a Temporal server to that of its Web UI, as `sentinel` guesses it. */
const toWebUi = 1_000;
const TEMPORAL_PORT = 7_233;
const POSTGRES_PORT = 5_432;

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
  const temporal = serverOf(TEMPORAL_ADDRESS === undefined ? undefined : `tcp://${TEMPORAL_ADDRESS}`, TEMPORAL_PORT);
  return [
    ...temporal.flatMap(({ host, ports: [port = 0] }) => [{ host, ports: [port, port + toWebUi] }]),
    ...serverOf(SENTINEL_WEB_URL, SENTINEL_WEB_URL?.startsWith('https') === true ? 443 : 80),
    ...serverOf(DATABASE_URL, POSTGRES_PORT),
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
