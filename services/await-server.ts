/**
 * What a client asks for that only looks: one of the embedded servers, as it is. Where a supervisor is
 * bringing it up, or back, this waits for it; nothing is started, stopped or changed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Environment, readConfig } from './config/config.ts';
import { logFile, quoteLog } from './home/home-files.ts';
import { ServicesError } from './config/services-error.ts';
import { readServicesState, type ServicesState } from './config/services-state.ts';
import { homeDoubtText } from './home/own-home.ts';
import { accepts, placeOf } from './processes/ports.ts';
import { isUpAndAlive } from './processes/process-identity.ts';
import { lockHolder, successorOf } from './supervisor/supervisor-lock.ts';

const POLL_MS = 50;
const COMES_WITHIN_MS = 60_000;
const TITLES = { postgres: 'Postgres', temporal: 'The Temporal server' } as const;

export type EmbeddedServer = keyof typeof TITLES;

/** Resolves at once where it answers; rejects with a `ServicesError` where nobody is bringing it up. */
export async function awaitServer(
  name: EmbeddedServer,
  env?: Environment,
  onProgress?: (text: string) => void,
): Promise<void> {
  const { home } = readConfig(env);
  const deadline = Date.now() + COMES_WITHIN_MS;
  let said = '';
  for (;;) {
    const state = readServicesState(home);
    const isComing = isBringingUp(home, state);
    const isStarting = isComing && state?.phase !== 'ready';
    if (!isStarting && (await isServing(state, name))) return;
    if (!isComing) throw new ServicesError(homeDoubtText(home) ?? absenceOf(name, state));
    if (Date.now() > deadline)
      throw new ServicesError(
        `${TITLES[name]} did not come up within ${COMES_WITHIN_MS / 1000} s; ${quoteLog(logFile(home, name))}`,
      );
    const text = state?.progress ?? `waiting for ${name} to come back`;
    if (text !== said) onProgress?.(text);
    said = text;
    await sleep(POLL_MS);
  }
}

function absenceOf(name: EmbeddedServer, state: ServicesState | null): string {
  const setting = name === 'postgres' ? 'DATABASE_URL' : 'TEMPORAL_ADDRESS';
  return state?.[name]?.isExternal === true && state.phase !== 'stopped'
    ? `The services were started with ${setting}, which is not set here, and looking changes nothing: set it to the same, or change the services over with "sentinel up".`
    : `${TITLES[name]} is not up, and looking starts nothing: "sentinel up" starts the services.`;
}

/** What one supervisor leaves comes back where another one waits to take it over. */
function isBringingUp(home: string, state: ServicesState | null): boolean {
  if (successorOf(home) !== null) return true;
  return lockHolder(home) !== null && (state?.phase === 'starting' || state?.phase === 'ready');
}

async function isServing(state: ServicesState | null, name: EmbeddedServer): Promise<boolean> {
  const server = state?.[name];
  const place = server === null || server === undefined || server.isExternal ? null : placeOf(server);
  return place !== null && isUpAndAlive(server?.process ?? null) && (await accepts(place));
}
