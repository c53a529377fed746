/** Who has to do with runs besides workers: those who answer, publish, edit, pause and end them. Each goes on until it is heard. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSchedule } from '../../../runs/schedules.ts';
import { answerRun, editRun, stepsOfRun, updateRun } from '../../../runs/steer-run.ts';
import type { Json } from '../../../language/json.ts';
import { keptIdOf, KeptFolder, keptRoot } from '../../../world/processes/kept/kept-folder.ts';
import { isWorkerGone } from '../../../world/processes/orphans.ts';
import { processStart } from '../../../world/processes/processes.ts';
import { signatureHeader } from '../../../worker/triggers/signature.ts';
import type { Harness } from '../../server/harness/harness.ts';
import { catalogue } from '../../catalogue.ts';
import { COLLECTION, type Company } from './kind-steps.ts';
import { kindOfId, KINDS } from './kinds.ts';

export const WEBHOOK_SECRET = 'a-secret-of-sixteen-or-more';

const againMs = 400;

export interface CompanyParts {
  harness: Harness;
  webhookPort: number;
  isOver: () => boolean;
}

/** Until it is done, or everything is over: servers and workers come and go. */
async function persistently(isOver: () => boolean, act: () => Promise<boolean>): Promise<void> {
  while (!isOver()) {
    if (await act().catch(() => false)) return;
    await sleep(againMs);
  }
}

/** Runs that are not to be answered before somebody has edited them. */
const unedited = new Set<string>();

export async function answerAll({ harness, isOver }: CompanyParts): Promise<void> {
  while (!isOver()) {
    const open = await harness.store.inbox.list({}).catch(() => []);
    await Promise.all(
      open
        .filter(({ state, handle }) => state === 'open' && kindOfId(handle) !== null && !unedited.has(handle))
        .map(async ({ handle, id, choices }) => {
          const [first, second] = choices.includes('retry')
            ? (['retry', 'skip'] as const)
            : (['approve', 'reject'] as const);
          const answers = [
            { id, choice: first, by: 'ada' },
            { id, choice: second, by: 'bob' },
          ];
          await answered(harness, handle, answers).catch(() => undefined);
        }),
    );
    await sleep(againMs);
  }
}

/** Who comes second is told the first answer; nobody does before the first one was heard. */
async function answered(harness: Harness, handle: string, answers: Parameters<typeof answerRun>[2][]): Promise<void> {
  for (const answer of answers) await answerRun(harness.client, handle, answer);
}

type Keep = (parts: CompanyParts, id: string) => Promise<void>;

const publish = ({ harness, isOver }: CompanyParts, id: string, name: string, data: Json): Promise<void> =>
  persistently(isOver, async () => {
    await harness.store.triggers.publish({ source: '@campaign', id: `${id} ${name}`, name, data, project: null });
    return true;
  });

const KEEP: { readonly [company in Company]: Keep } = {
  publishes: async (parts, id) => {
    await sleep(2000);
    // Twice the same event.
    for (let times = 0; times < 2; times += 1) await publish(parts, id, `campaign:go:${id}`, { run: id });
  },
  triggers: async (parts, id) => {
    for (let times = 0; times < 2; times += 1)
      await publish(parts, id, 'campaign:ordered', { run: id, n: 1, out: outOf(parts) });
  },
  posts: async (parts, id) => {
    for (let times = 0; times < 2; times += 1) await post(parts, id);
  },
  edits: ({ harness, isOver }, id) => {
    const step = {
      type: 'command',
      command: 'data/create',
      params: { collection: COLLECTION, data: { run: id, at: 'edited' } },
    };
    return persistently(isOver, async () => {
      const { steps, revision } = await stepsOfRun(harness.client, id);
      if (!steps.some(({ path }) => path === 'steps.1')) return false;
      if (revision === 0)
        await editRun(harness.client, id, { op: 'update', path: 'steps.1', step, revision, by: 'ada' }, `edit ${id}`);
      unedited.delete(id);
      return true;
    });
  },
  pauses: async ({ harness, isOver }, id) => {
    await sleep(1000);
    await persistently(isOver, async () => {
      const run = await harness.store.runs.find(id);
      if (run?.finishedAt !== null) return run !== null;
      await updateRun(harness.client, id, 'pause', 'the campaign says so');
      return true;
    });
    await sleep(1500);
    await persistently(isOver, async () => {
      const run = await harness.store.runs.find(id);
      if (run?.finishedAt !== null) return run !== null;
      await updateRun(harness.client, id, 'resume', true);
      return true;
    });
  },
  terminates: async ({ harness, isOver }, id) => {
    await secondBegun(harness, isOver, id);
    await terminate(harness, isOver, id);
  },
  abandons: async ({ harness, isOver }, id) => {
    await orphaned(harness, isOver, id);
    await terminate(harness, isOver, id);
  },
  orphans: async ({ harness, isOver }, id) => {
    const hasBegun = (): boolean => readFileSync(outOf({ harness }), 'utf8').includes(`${id} begun\n`);
    await persistently(isOver, async () => Promise.resolve(hasBegun()));
    const folder = await orphaned(harness, isOver, id);
    const keeper = folder?.keeper ?? null;
    if (keeper === null || (await processStart(keeper.pid)) !== keeper.start) return;
    process.kill(-keeper.pid, 'SIGKILL');
  },
  schedules: async (parts, id) => {
    const { store, client, taskQueue, project } = parts.harness;
    const [starting, schedule] = [{ store, client, catalogue, taskQueue }, `s-${id}`];
    const { definition } = KINDS.scheduled;
    const inputs = { id, out: outOf(parts) };
    const asked = { id: schedule, cron: '0 0 1 1 *', definition, inputs, project, persona: 'campaign', replace: true };
    await persistently(parts.isOver, async () => {
      await createSchedule(starting, asked);
      return true;
    });
    const made = client.schedule.getHandle(schedule);
    await persistently(parts.isOver, async () => {
      if ((await made.describe()).info.recentActions.length > 0) return true;
      await made.trigger();
      // It is listed a moment later.
      await sleep(listedWithinMs);
      return false;
    });
  },
};

const toldWithinMs = 240_000;
const listedWithinMs = 4_000;
const orphanedWithinMs = 6_000;
const orphanLookMs = 50;

/** Once it is told that the second step of a run has begun, or long after: a worker that dies may take the word with it. */
function secondBegun(harness: Harness, isOver: () => boolean, id: string): Promise<void> {
  const until = Date.now() + toldWithinMs;
  return persistently(isOver, async () => {
    const events = await harness.events(id);
    return events.some(({ type, key }) => type === 'step-started' && key === 'steps.1@1') || Date.now() > until;
  });
}

/** Once the step's process has lost its worker, or has not for so long. */
async function orphaned(harness: Harness, isOver: () => boolean, id: string): Promise<KeptFolder | null> {
  const find = (): KeptFolder | null =>
    KeptFolder.find(keptRoot(harness.env['SENTINEL_HOME'] ?? ''), keptIdOf(id, 'steps.1@1'));
  await persistently(isOver, () => Promise.resolve((find()?.keeper ?? null) !== null));
  for (const until = Date.now() + orphanedWithinMs; !isOver() && Date.now() < until; await sleep(orphanLookMs)) {
    const folder = find();
    const worker = folder?.latestClaim?.worker;
    if (worker !== undefined && (await isWorkerGone(worker))) return folder;
  }
  return null;
}

const terminate = (harness: Harness, isOver: () => boolean, id: string): Promise<void> =>
  persistently(isOver, async () => {
    await harness
      .workflow(id)
      .terminate('the campaign ends it')
      .catch((error: unknown) => {
        if (!(error instanceof Error && error.name === 'WorkflowNotFoundError')) throw error;
      });
    return true;
  });

export const outOf = ({ harness }: Pick<CompanyParts, 'harness'>): string => `${harness.project}-out/lines`;

const post = ({ isOver, webhookPort, ...parts }: CompanyParts, id: string): Promise<void> => {
  const name = 'campaign:posted';
  const body = Buffer.from(JSON.stringify({ run: id, n: 1, out: outOf(parts) }));
  return persistently(isOver, async () => {
    const seconds = Math.floor(Date.now() / 1000);
    const answer = await fetch(`http://127.0.0.1:${webhookPort}/events/${encodeURIComponent(name)}`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-event-id': id,
        'x-sentinel-signature': signatureHeader(WEBHOOK_SECRET, seconds, { id, name, body }),
      },
      signal: AbortSignal.timeout(5000),
    });
    return answer.ok;
  });
};

export function keepCompany(parts: CompanyParts, company: Company, id: string): void {
  void KEEP[company](parts, id).catch(() => undefined);
}

/** Before it is started, so that nobody answers it early. */
export function expectCompany(id: string): void {
  if (kindOfId(id) === 'edited') unedited.add(id);
}
