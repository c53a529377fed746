/**
 * Runs of every kind on real services, while workers die at named points, stand still, and lose their database or
 * Temporal. A death is a case for each run that was under way and that the dead worker had been at.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SentinelClient } from '../../../client/client.ts';
import { choosePort } from '../../../services/processes/ports.ts';
import { catalogue } from '../../catalogue.ts';
import { Chance } from '../../server/chaos/chaos-definitions.ts';
import { Harness } from '../../server/harness/harness.ts';
import { startServices, type Services } from '../../server/harness/services.ts';
import { Aim, POINTS } from './aim.ts';
import { PassedPoints } from './armed-worker.ts';
import { answerAll, outOf, WEBHOOK_SECRET } from './company.ts';
import { Crowd } from './crowd.ts';
import { type Death, type Deed, DEEDS, Fleet } from './fleet.ts';
import { idOf, KIND_NAMES, type KindName } from './kinds.ts';
import { countAll, judge, judgeBesides, seenOf, type Expected, type Finding } from './oracle.ts';
import { Outside } from './outside.ts';
import { writeProject } from './project.ts';

export interface Progress {
  cases: number;
  deaths: number;
  open: number;
  /** Points at which a worker has died. */
  reached: number;
  word: string;
}

export interface ServersAsked {
  seed: number;
  points: number;
  /** No worker dies any more after so long. */
  minutes: number;
  kinds?: readonly KindName[];
  tell: (progress: Progress) => void;
}

export interface ServersReport {
  cases: number;
  runs: number;
  deaths: number;
  deeds: { [deed in Deed]: number };
  /** Deaths at which two workers were there. */
  withTwo: number;
  points: { [point: string]: number };
  kinds: { [kind: string]: number };
  pairs: number;
  pointsOfKinds: number;
  neverReached: string[];
  /** How often workers came to each point. */
  passed: { [point: string]: number };
  findings: Finding[];
}

/** Until all points are reached, a campaign that has its cases goes on for so long. */
const pastMs = 10 * 60_000;
/** Of all runs the next one. */
const endsWithinMs = 150_000;

export async function serversCampaign(asked: ServersAsked): Promise<ServersReport> {
  // The project is written here.
  process.env['SENTINEL_TRUST'] = 'all';
  process.env['XDG_STATE_HOME'] ??= join(tmpdir(), `sentinel-test-state-${userInfo().uid}`);
  const services = await startServices();
  const harness = await Harness.open(services);
  const outside = await new Outside().open();
  const campaign = new ServersCampaign(asked, services, harness, outside, await choosePort([]));
  const end = async (): Promise<void> => {
    await campaign.close();
    await harness.close();
    await outside.close();
    await services.stop();
  };
  // Nothing that was started outlives it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().finally(() => process.exit(130)));
  try {
    return await campaign.run();
  } finally {
    await end();
  }
}

class ServersCampaign {
  readonly #asked: ServersAsked;
  readonly #harness: Harness;
  readonly #outside: Outside;
  readonly #folder = mkdtempSync(join(tmpdir(), 'sentinel-campaign-'));
  readonly #aim: Aim;
  readonly #fleet: Fleet;
  readonly #client: SentinelClient;
  readonly #crowd: Crowd;
  readonly #env: Record<string, string>;
  readonly #report: ServersReport;
  #isOver = false;
  #isStarting = false;

  constructor(asked: ServersAsked, services: Services, harness: Harness, outside: Outside, webhookPort: number) {
    this.#asked = asked;
    this.#harness = harness;
    this.#outside = outside;
    const chance = new Chance(asked.seed);
    this.#aim = new Aim(chance);
    this.#client = new SentinelClient({ env: harness.env, startsServices: false });
    const parts = { harness, webhookPort, isOver: () => this.#isOver };
    this.#crowd = new Crowd(parts, this.#client, asked.kinds);
    mkdirSync(`${harness.project}-out`);
    writeProject(harness.project, outside.url);
    this.#env = {
      ...outside.env,
      SENTINEL_WEBHOOK_SECRET: WEBHOOK_SECRET,
      SENTINEL_WEBHOOK_PORT: String(webhookPort),
      CAMPAIGN_CALLS: join(`${harness.project}-out`, 'calls'),
    };
    const passed = new PassedPoints(join(this.#folder, 'passed'));
    this.#fleet = new Fleet({ harness, services, passed, aim: this.#aim, chance, env: this.#env });
    const deeds = Object.fromEntries(DEEDS.map((deed) => [deed, 0])) as ServersReport['deeds'];
    this.#report = {
      cases: 0,
      runs: 0,
      deaths: 0,
      deeds,
      withTwo: 0,
      points: {},
      kinds: {},
      pairs: 0,
      pointsOfKinds: 0,
      neverReached: [],
      passed: {},
      findings: [],
    };
    void answerAll(parts);
  }

  async run(): Promise<ServersReport> {
    const { store, client, taskQueue } = this.#harness;
    await this.#crowd.registerTriggers({ store, client, catalogue, taskQueue });
    const expected = await this.#undisturbed();
    const crowding = this.#keepCrowded();
    await this.#die();
    this.#isStarting = false;
    await crowding;
    await this.#toEnd();
    await this.#judge(expected);
    return this.#report;
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#fleet.close();
    await this.#client.close();
    for (const folder of [this.#folder, `${this.#harness.project}-out`])
      rmSync(folder, { recursive: true, force: true });
  }

  #tell(word: string): void {
    const { cases, deaths } = this.#report;
    const reached = POINTS.length - this.#aim.neverReached.length;
    this.#asked.tell({ cases, deaths, open: this.#crowd.open.length, reached, word });
  }

  /** One run of each kind with a worker that dies nowhere says what the others have to come to. */
  async #undisturbed(): Promise<Map<KindName, Expected>> {
    await this.#fleet.unharmed();
    const kinds = this.#asked.kinds ?? KIND_NAMES;
    for (const kind of kinds) await this.#crowd.start(kind, idOf(kind, 9_999_999));
    await this.#untilAllEnd('runs that nothing disturbs');
    await sleep(3000);
    const counted = await this.#count();
    const expected = new Map<KindName, Expected>();
    for (const { kind, id, handle } of this.#crowd.all.values()) {
      const seen = seenOf(counted, id, handle);
      if (seen === null) {
        process.stderr.write(`a run of "${kind}" did not end although nothing disturbed it\n`);
        continue;
      }
      expected.set(kind, seen);
    }
    this.#crowd.all.clear();
    await this.#fleet.killAll();
    return expected;
  }

  #count(): ReturnType<typeof countAll> {
    return countAll(this.#harness, this.#outside, {
      lines: outOf({ harness: this.#harness }),
      calls: this.#env['CAMPAIGN_CALLS'] ?? '',
    });
  }

  async #keepCrowded(): Promise<void> {
    this.#isStarting = true;
    while (this.#isStarting) {
      await this.#crowd.look().catch(() => undefined);
      if (!(await this.#crowd.startNext(this.#aim.wanted))) await sleep(300);
    }
  }

  async #die(): Promise<void> {
    const { points, minutes } = this.#asked;
    const until = Date.now() + minutes * 60_000;
    for (let enoughAt = Number.POSITIVE_INFINITY; Date.now() < Math.min(until, enoughAt);) {
      const death = await this.#fleet.nextDeath(until);
      if (death === null) break;
      await this.#follow(death);
      this.#tell(`${death.deed} at ${death.point}`);
      if (this.#report.cases < points) continue;
      enoughAt = this.#aim.neverReached.length === 0 ? 0 : Math.min(enoughAt, Date.now() + pastMs);
    }
  }

  /** Counts the death, and does what comes with it. */
  async #follow(death: Death): Promise<void> {
    const { deed, point, handle, at, others } = death;
    await this.#crowd.look().catch(() => undefined);
    const hit = this.#crowd.open.filter((one) => at.has(one.handle));
    for (const one of hit) {
      one.deaths += 1;
      this.#report.kinds[one.kind] = (this.#report.kinds[one.kind] ?? 0) + 1;
    }
    for (const one of this.#crowd.all.values()) if (at.has(one.handle)) one.lost += 1;
    this.#report.cases += hit.length;
    this.#report.deaths += 1;
    this.#report.deeds[deed] += 1;
    if (others > 0) this.#report.withTwo += 1;
    this.#aim.diedWhere(point, handle);
    await this.#fleet.follow(death);
  }

  /** With a worker that nothing disturbs, all runs end. */
  async #toEnd(): Promise<void> {
    await this.#fleet.killAll();
    await this.#fleet.unharmed();
    await this.#untilAllEnd('to their ends');
    await this.#tellOpen();
    await sleep(4000);
    await this.#fleet.killAll();
  }

  /** Or until none has for a long time. */
  async #untilAllEnd(word: string): Promise<void> {
    let [open, until] = [Number.POSITIVE_INFINITY, 0];
    while (open > 0 && (this.#crowd.open.length < open || Date.now() < until)) {
      if (this.#crowd.open.length < open) until = Date.now() + endsWithinMs;
      open = this.#crowd.open.length;
      const some = this.#crowd.open.slice(0, 8).map(({ id }) => id);
      this.#tell(`${word}: ${some.join(' ')}`);
      await sleep(1000);
      await this.#fleet.unharmed();
      this.#fleet.watch();
      await this.#crowd.look().catch(() => undefined);
    }
  }

  /** What a run waits for that did not end. */
  async #tellOpen(): Promise<void> {
    for (const { handle } of this.#crowd.open) {
      const found = await this.#harness
        .workflow(handle)
        .describe()
        .catch(() => null);
      const pending = (found?.raw.pendingActivities ?? []).map(
        ({
          activityId,
          state,
          attempt,
          lastWorkerIdentity,
          lastFailure,
          lastStartedTime,
          lastHeartbeatTime,
          scheduledTime,
        }) =>
          JSON.stringify({
            activityId,
            state,
            attempt,
            lastWorkerIdentity,
            said: lastFailure?.message,
            lastStartedTime,
            lastHeartbeatTime,
            scheduledTime,
          }),
      );
      const task = JSON.stringify(found?.raw.pendingWorkflowTask ?? null);
      process.stderr.write(
        `\n${handle} is ${found?.status.name ?? 'unknown'}; task ${task}; steps ${pending.join(' ')}\n`,
      );
    }
  }

  async #judge(expected: ReadonlyMap<KindName, Expected>): Promise<void> {
    const counted = await this.#count();
    const { findings } = this.#report;
    for (const run of this.#crowd.all.values()) {
      const of = expected.get(run.kind);
      if (of !== undefined) findings.push(...judge(counted, of, run));
    }
    findings.push(...judgeBesides(counted));
    this.#report.runs = this.#crowd.all.size;
    this.#report.points = Object.fromEntries(this.#aim.died);
    this.#report.pairs = this.#aim.pairs.size;
    this.#report.pointsOfKinds = this.#aim.diedAt.size;
    this.#report.neverReached = this.#aim.neverReached;
    this.#report.passed = Object.fromEntries(this.#aim.passed);
  }
}
