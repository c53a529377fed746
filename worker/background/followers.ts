/** The followers of systems: for each event a command is performed, and what it writes is committed with their place. */
import { FOLLOWERS_HANDLE } from '../../operations/caller.ts';
import type { RunPort } from '../../operations/command.ts';
import { quickContext } from '../../operations/quick-context.ts';
import type { Registry } from '../../operations/registry.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Batch } from '../../prisma/store/contract/cursor-contract.ts';
import type { OpenSession } from '../../prisma/store/contract/session-contract.ts';
import type { Fed } from './event-feed.ts';

const callMs = 5_000;

export interface FollowedEvent {
  system: string;
  follower: string;
  /** The name of an event, or a pattern with `*`. */
  event: string;
  /** What is performed for each. */
  command: string;
}

export interface FollowingParts {
  store: Store;
  registry: Registry;
  runs: RunPort;
  /** Of the worker. */
  project: string;
}

export function fedFollower(parts: FollowingParts, { system, follower, event, command }: FollowedEvent): Fed {
  const name = `${system}/${follower}`;
  return {
    name: `follower ${name}`,
    event,
    from: 'now',
    // A command that fails undoes nothing but its own.
    most: 1,
    withData: true,
    async feed({ events, failures }, session) {
      for (const one of events) await perform(parts, { name, command, event: one, failures }, session);
    },
    // Its command may have published something.
    fed: () => parts.store.signals.announce(),
  };
}

interface Performed {
  name: string;
  command: string;
  event: Batch['events'][number];
  failures: number;
}

async function perform(
  { store, registry, runs, project }: FollowingParts,
  { name, command, event, failures }: Performed,
  session: OpenSession,
): Promise<void> {
  const { name: of, data, position, at, handle: by } = event;
  const context = quickContext({
    run: { handle: FOLLOWERS_HANDLE, project, persona: name, definitionHash: '' },
    caller: { kind: 'follower', name },
    key: `${name}/${position}`,
    attempt: failures + 1,
    store,
    session,
    runPort: runs,
    signal: AbortSignal.timeout(callMs),
    timeoutMs: callMs,
  });
  await registry.run(command, { event: { name: of, data, position, at, by } }, context);
}
