/** The runs of a campaign that are under way: each is started, kept company, and seen to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { addTrigger } from '../../../client/triggers/triggers.ts';
import type { SentinelClient } from '../../../client/client.ts';
import type { RunServices } from '../../../runs/start-run.ts';
import { expectCompany, keepCompany, outOf, type CompanyParts } from './company.ts';
import { idOf, KIND_NAMES, KINDS, type KindName } from './kinds.ts';
import { idOfRun } from './oracle.ts';

export interface UnderWay {
  id: string;
  kind: KindName;
  /** The same as the id where no event starts it. */
  handle: string;
  deaths: number;
  lost: number;
  isOver: boolean;
}

/** Runs under way at once, of all kinds and of each. */
const openMax = 56;
const ofKindMax = 8;

/** Of this program: a server that is away says something else. */
const isMistake = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'ConfigError' ||
    ('code' in error && ['DEFINITION_INVALID', 'INPUT_REFUSED', 'USAGE'].includes(String(error.code))));

export class Crowd {
  readonly all = new Map<string, UnderWay>();
  readonly #parts: CompanyParts;
  readonly #client: SentinelClient;
  readonly #kinds: readonly KindName[];
  readonly #started = new Map<KindName, number>();

  constructor(parts: CompanyParts, client: SentinelClient, kinds: readonly KindName[] = KIND_NAMES) {
    this.#parts = parts;
    this.#client = client;
    this.#kinds = kinds;
  }

  get open(): UnderWay[] {
    return [...this.all.values()].filter(({ isOver }) => !isOver);
  }

  async registerTriggers(starting: RunServices): Promise<void> {
    const { project } = this.#parts.harness;
    for (const name of KIND_NAMES) {
      const { definition, isTriggered } = KINDS[name];
      if (isTriggered === true && 'trigger' in definition)
        await addTrigger(starting, { definition, inputs: {}, project, persona: 'campaign' });
    }
  }

  /** Of the kind of which the fewest are under way, those that are wanted first; false where there are enough. */
  async startNext(wanted: readonly KindName[] = []): Promise<boolean> {
    const { open } = this;
    const underWay = (kind: KindName): number => open.filter((one) => one.kind === kind).length;
    const isWanted = (kind: KindName): number => (wanted.includes(kind) ? 1 : 0);
    const [next] = this.#kinds
      .map((kind) => ({ kind, many: underWay(kind), nth: this.#started.get(kind) ?? 0 }))
      .filter(({ many }) => many < ofKindMax)
      .toSorted((a, b) => isWanted(b.kind) - isWanted(a.kind) || a.many - b.many || a.nth - b.nth);
    if (next === undefined || open.length >= openMax) return false;
    this.#started.set(next.kind, next.nth + 1);
    await this.start(next.kind, idOf(next.kind, next.nth));
    return true;
  }

  async start(kind: KindName, id: string): Promise<void> {
    const { definition, company, isTriggered } = KINDS[kind];
    expectCompany(id);
    this.all.set(id, { id, kind, handle: id, deaths: 0, lost: 0, isOver: false });
    if (isTriggered !== true) await this.#begin(kind, id, definition);
    if (company !== undefined) keepCompany(this.#parts, company, id);
  }

  /** Again, until it is there: servers may be away. */
  async #begin(kind: KindName, handle: string, definition: (typeof KINDS)[KindName]['definition']): Promise<void> {
    const { harness, isOver } = this.#parts;
    const text = JSON.stringify(definition);
    const all = { id: handle, out: outOf(this.#parts), list: ['x', 'y', 'z'] };
    const inputs = Object.fromEntries(Object.entries(all).filter(([name]) => text.includes(`$${name}`)));
    for (;;) {
      try {
        await this.#client.start(definition, {
          handle,
          project: harness.project,
          inputs,
          persona: 'campaign',
          saves: false,
        });
        return;
      } catch (error) {
        if (isMistake(error)) throw error;
        if (isOver()) return;
        const found = await harness
          .workflow(handle)
          .describe()
          .catch(() => null);
        if (found !== null) return;
        await sleep(500);
      }
    }
  }

  /** Finds out which have ended, and which events have started theirs. */
  async look(): Promise<void> {
    const { store } = this.#parts.harness;
    const runs = await store.runs.list({ limit: 100_000 });
    const byId = new Map(runs.filter(({ handle }) => !handle.includes('/')).map((run) => [idOfRun(run), run]));
    // A run that has ended goes on where the worker died that told of it, and Temporal does not know.
    for (const one of this.all.values()) {
      const run = byId.get(one.id);
      if (run === undefined) continue;
      one.handle = run.handle;
      one.isOver = run.finishedAt !== null;
    }
  }
}
