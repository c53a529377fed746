/** A run as its client sees it: its row, and where to look at it. */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json } from '../../language/json.ts';
import type { StepType } from '../../language/model.ts';
import type {
  Paused,
  RunEvent,
  RunOrigin,
  RunOutcome,
  RunStatus,
  StepStarted,
  Told,
  Warning,
} from '../../language/events/run-event.ts';
import type { Run, Store } from '../../prisma/store/contract/contract.ts';
import type { PlaceInLease } from '../../prisma/store/contract/lease-contract.ts';
import type { Config } from '../../services/config/config.ts';
import { type GroupReport, leaseReports, type LeaseReport, placesIn, type PlaceReport } from './run-places.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';

export interface RunReport {
  handle: string;
  status: RunStatus;
  /** Null while the run has not ended. */
  outcome: RunOutcome | null;
  /** What its definition declares, or else every variable the run set; values over 32 KiB as a reference with a preview. */
  outputs: { [name: string]: Json };
  iterations: number;
  durationMs: number;
  /** The run in the Temporal Web UI; null when no address of one is known. */
  webUrl: string | null;
  /** What started it, where no file did by hand: a schedule, an event, a fork, or a saved definition. */
  origin?: RunOrigin;
  /** The limit that stopped the run. */
  limit?: string;
  failure?: FailureInfo;
  /** Why the run is held, where something but a question holds it. */
  reason?: string;
  /** The steps under way, the innermost of those inside one another; at most 20. */
  underWay?: { step: string; type: StepType; label: string; since: string }[];
  /** For whom steps wait, until when (ISO 8601), and why. */
  waits?: { step: string; for: string; until: string; why: string }[];
  /** Its place in the group that its definition names, while it goes on. */
  group?: GroupReport;
  /** Its place among the runs of its persona that are at work, where there are only so many. */
  place?: PlaceReport;
  /** Places of its steps in the leases that their commands ask for. */
  leases?: LeaseReport[];
  /** What models were told and no turn has heard yet. */
  told?: { step: string; id: string; text: string; by: string }[];
}

/** A run that stands still because its workflow task fails each time. */
export interface FailingRun {
  /** How often its workflow task has failed. */
  times: number;
  /** What the last of them failed with. */
  finding: string;
  remedy: string;
}

/** A step that waits for a place on a queue of its own. */
export interface QueuedStep {
  /** Its key. */
  step: string;
  queue: string;
  /** How many serve the queue. */
  workers: number;
}

/** What is said of a run besides its row. */
export interface SaidOf {
  /** Of the run and of its steps. */
  places: readonly PlaceInLease[];
  waits: readonly Warning[];
  underWay: readonly StepStarted[];
  told: readonly Told[];
  origin: RunOrigin | null;
}

export async function saidOf(
  store: Pick<Store, 'events' | 'leases'>,
  { handle, finishedAt }: Pick<Run, 'handle' | 'finishedAt'>,
): Promise<SaidOf> {
  const first = store.events.after(handle, -1, 1);
  if (finishedAt !== null) return { places: [], waits: [], underWay: [], told: [], origin: originIn(await first) };
  const [begun, waits, underWay, words, places] = await Promise.all([
    first,
    store.events.waits(handle, Date.now()),
    store.events.underWay(handle),
    store.events.latest(handle, ['told', 'heard'], wordsLookedAt),
    store.leases.placesOf([handle]),
  ]);
  const heard = new Set(words.flatMap((word) => (word.type === 'heard' ? [word.id] : [])));
  return {
    places,
    waits,
    underWay: innermost(underWay),
    told: words.flatMap((word) => (word.type === 'told' && !heard.has(word.id) ? [word] : [])),
    origin: originIn(begun),
  };
}

function originIn([first]: readonly RunEvent[]): RunOrigin | null {
  return first?.type === 'run-started' ? (first.origin ?? null) : null;
}

const stepsShownMax = 20;

const innermost = (steps: readonly StepStarted[]): StepStarted[] =>
  steps.filter(({ key }) => !steps.some((other) => isInside(other.key, key)));

/** By their keys: the path and the passes of the one begin with those of the other. */
function isInside(key: string, around: string): boolean {
  const [path = '', passes = ''] = key.split('@');
  const [outer = '', before = ''] = around.split('@');
  return path.startsWith(`${outer}.`) && `${passes}.`.startsWith(`${before}.`);
}

const stepOf = ({ key, step, label, at }: StepStarted): NonNullable<RunReport['underWay']>[number] => ({
  step: key,
  type: step,
  label,
  since: new Date(at).toISOString(),
});

/** More never wait at once. */
const wordsLookedAt = 100;

export function reportOf(
  run: Run,
  config: Config,
  now: number,
  { held, places, waits, underWay, told, origin }: SaidOf & { held: Paused | null },
): RunReport {
  const byStep = new Map(waits.map((wait) => [wait.key, wait]));
  const { group, place } = placesIn(places);
  const leases = leaseReports(places);
  return {
    handle: run.handle,
    status: run.status,
    outcome: run.outcome,
    outputs: run.outputs ?? {},
    iterations: run.iterations,
    durationMs: (run.finishedAt ?? now) - run.startedAt,
    webUrl: webUrlOf(run.handle, config),
    ...(origin === null ? {} : { origin }),
    ...(run.limit === null ? {} : { limit: run.limit }),
    ...(run.failure === null ? {} : { failure: run.failure }),
    ...(held === null ? {} : { reason: held.reason }),
    ...(underWay.length === 0 ? {} : { underWay: underWay.slice(0, stepsShownMax).map(stepOf) }),
    ...(byStep.size === 0 ? {} : { waits: [...byStep.values()].map(waitOf) }),
    ...(group === null ? {} : { group }),
    ...(place === null ? {} : { place }),
    ...(leases.length === 0 ? {} : { leases }),
    ...(told.length === 0 ? {} : { told: told.map(({ key, id, text, by }) => ({ step: key, id, text, by })) }),
  };
}

const waitOf = ({ key, message, until = 0, waitsFor = '' }: Warning): NonNullable<RunReport['waits']>[number] => ({
  step: key,
  for: waitsFor,
  until: new Date(until).toISOString(),
  why: message,
});

/** Of a run that was ended before anything of it was recorded. */
export const reportWithoutRow = (handle: string, webUrl: string | null): RunReport => ({
  handle,
  status: 'cancelled',
  outcome: 'cancelled',
  outputs: {},
  iterations: 0,
  durationMs: 0,
  webUrl,
});

/** Null where no address of a Web UI is known; one behind a socket has none. */
export function webUrlOf(handle: string, config: Config): string | null {
  return config.webUrl === null ? null : `${config.webUrl}${pathInWebUi(handle, config)}`;
}

export function pathInWebUi(handle: string, { temporal }: Config): string {
  return `/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(workflowIdOf(handle))}`;
}
