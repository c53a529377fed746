/** The client as this package itself uses it: what the doors show of the store, and what schedules and triggers are made with. */
import { defined } from '../language/defined.ts';
import type { Json, JsonObject } from '../language/json.ts';
import type { Definition } from '../language/model.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import type { Seeker } from '../prisma/store/contract/sentinel-contract.ts';
import type { RunServices } from '../runs/start-run.ts';
import { SentinelClient, type InboxQuery } from './client.ts';
import { connectionsOf } from './connect.ts';
import type {
  KeptEvent,
  KeptQuery,
  ListedItem,
  LogLine,
  LogQuery,
  PlaceInLease,
  StoredDefinition,
  Trigger,
  TriggerStart,
} from './contract/shown.ts';
import type { SavedIfUp } from './find-definition.ts';
import { emittedBy, emittedData } from './follow/emitted-data.ts';
import type { RunPlaces } from './lookup/run-places.ts';
import type { DoctorEntry } from '../services/doctor-entry.ts';
import type { DefinitionFile } from './saved-copy.ts';
import { performCommand } from './perform.ts';
import type { Steering } from './triggers/triggers.ts';

type SavedVersion = { version: number; id: string; savedAt: string };
export type SavedInList = SavedVersion & {
  name: string;
  description: string | null;
  personaId: string;
  tags: string[];
  runCount: number;
  successRate: number | null;
};
export type SavedDefinition = SavedVersion & { name: string; definition: JsonObject; versions: SavedVersion[] };

/** The last lines of a log. */
export interface LogTail {
  lines: LogLine[];
  /** Whether other steps have written, too, what was asked for. */
  isOfSeveral: () => Promise<boolean>;
}

export class OpenClient extends SentinelClient {
  store(): Promise<Store> {
    return connectionsOf(this).store();
  }

  /** The store if it answers now; starts nothing. */
  storeIfUp(): Promise<Store | null> {
    return connectionsOf(this).storeIfUp();
  }

  /** The definitions in the store, by name or by id, for who asks. */
  definitionsFor(seeker: Seeker): SavedIfUp {
    return async () => {
      const definitions = (await this.storeIfUp())?.definitions;
      return definitions === undefined ? null : { find: (name) => definitions.find(name, seeker) };
    };
  }

  /** What has been saved, by name alone: an agent reads what is kept by its id among the runs. */
  savedFor(seeker: Seeker): () => Promise<Pick<Store['definitions'], 'find' | 'list'> | null> {
    return async () => {
      const store = await this.storeIfUp();
      if (store === null) return null;
      const { definitions } = store;
      return { find: (name) => definitions.findSaved(name, seeker), list: () => definitions.list(seeker) };
    };
  }

  /** What schedules, triggers and forks are made with; everything is up after this, where it may be started. */
  parts(host?: string, project?: string): Promise<RunServices> {
    return connectionsOf(this).runServices(host, project);
  }

  /** The run that is meant by its handle or the beginning of it. Throws `HANDLE_AMBIGUOUS`; what no run has comes back. */
  async handleOf(given: string): Promise<string> {
    const [{ runs }, { handleOf }] = await Promise.all([this.store(), import('./lookup/handle-of.ts')]);
    return handleOf(runs, given);
  }

  /** The latest run of a project that a person started. Throws `RUN_NOT_FOUND`. */
  async latestOf(project: string): Promise<string> {
    const [{ runs }, { latestOf }] = await Promise.all([this.store(), import('./lookup/handle-of.ts')]);
    return latestOf(runs, project);
  }

  async logs(handle: string, query: LogQuery, linesMax: number): Promise<LogTail> {
    const { logs } = await this.store();
    return {
      lines: await logs.tail(handle, query, linesMax),
      isOfSeveral: () => logs.isOfSeveralSteps(handle, query),
    };
  }

  /** Lines as they come, until the run has ended. */
  async *followLogs(handle: string, query: LogQuery): AsyncGenerator<LogLine> {
    yield* (await this.store()).logs.follow(handle, query, {});
  }

  /** The latest published events, in order. */
  async published(query: KeptQuery): Promise<KeptEvent[]> {
    return (await this.store()).signals.kept(query);
  }

  /** Published events behind a position as they come; of a run, until it has ended. */
  async *followPublished(query: Omit<KeptQuery, 'limit' | 'after'>, after: number): AsyncGenerator<KeptEvent> {
    const [store, { followPublished }] = await Promise.all([this.store(), import('./follow/follow-published.ts')]);
    const { handle } = query;
    const isOver = async (): Promise<boolean> => handle !== undefined && (await this.find(handle)).finishedAt !== null;
    yield* followPublished(store, { query, after, isOver });
  }

  /** What the steps of a run and of runs nested in it emitted, by `HANDLE KEY`. */
  async emitted(handle: string): Promise<Map<string, Json>> {
    return emittedData(await this.store(), handle);
  }

  async emittedBy(handle: string, key: string): Promise<Json> {
    return emittedBy(await this.store(), handle, key);
  }

  /** Places in leases and groups, by lease and in the order of their turns. */
  async places(max: number): Promise<PlaceInLease[]> {
    return (await this.store()).leases.places(max);
  }

  /** The groups of runs that go on, by handle. */
  async placesOfRuns(handles: readonly string[]): Promise<ReadonlyMap<string, RunPlaces>> {
    const [store, { placesOfRuns }] = await Promise.all([this.store(), import('./lookup/run-places.ts')]);
    return placesOfRuns(store, handles);
  }

  async triggers(): Promise<Trigger[]> {
    return (await this.store()).triggers.list();
  }

  /** A trigger by its id or the name of its definition. Throws `NOT_FOUND`, and `USAGE` if several projects have one. */
  async trigger(given: string, project: string): Promise<Trigger> {
    const [store, { findTrigger }] = await Promise.all([this.store(), import('./triggers/triggers.ts')]);
    return findTrigger({ store }, given, project);
  }

  /** The runs that events started by a trigger, newest first. */
  async startsOf({ id }: Trigger, max: number): Promise<TriggerStart[]> {
    return (await this.store()).triggers.starts(id, max);
  }

  async steerTrigger(trigger: Trigger, verb: Steering): Promise<{ isWatched?: boolean }> {
    const [store, { steerTrigger }] = await Promise.all([this.store(), import('./triggers/triggers.ts')]);
    return steerTrigger({ store }, trigger, verb);
  }

  /** Content that is kept under its key; null where there is none. */
  async payload(key: string): Promise<Uint8Array | null> {
    return (await this.store()).payloads.get(key);
  }

  /** The saved definitions, the latest version of each name. */
  async saved(by: string): Promise<SavedInList[]> {
    return performCommand<SavedInList[]>(this, 'sentinel/load', {}, { by });
  }

  /** A definition by its name or the id of a version, and all versions of its name; null where there is none. */
  async savedAs(name: string, by: string): Promise<SavedDefinition | null> {
    return performCommand<SavedDefinition | null>(this, 'sentinel/load', { name }, { by });
  }

  /** Its name finds it no more. False where there was none. */
  async forget(name: string, by: string): Promise<boolean> {
    return (await performCommand<{ deleted: boolean }>(this, 'sentinel/delete', { name }, { by })).deleted;
  }

  /** What personas are asked, told and given to do, newest first: of a person also what those are asked for whom they answer. */
  async listInbox({ persona: personaId, ...query }: InboxQuery & { id?: string }, by: string): Promise<ListedItem[]> {
    const { voicesOf } = await import('./answers-for.ts');
    const among = personaId === undefined ? [] : (await voicesOf(this, personaId)).map((voice) => voice.among);
    const items = await performCommand(this, 'inbox/list', { ...defined({ ...query, personaId }), among }, { by });
    return items as unknown as ListedItem[];
  }

  /** What the command of a run gave that `startCommandRun` has started, however large. */
  async resultOfCommand(handle: string): Promise<Json> {
    const [{ resultOfRun }, store] = await Promise.all([import('./command-run.ts'), this.store()]);
    return resultOfRun(this, store, handle);
  }

  /** Saves a definition under its name, for a person. */
  async publish(definition: Definition, owner: Seeker): Promise<StoredDefinition> {
    return (await this.store()).definitions.publish(definition, { ...owner, isPerson: true });
  }

  /** What differs from its saved copy, as sentences; none where the store is not up. */
  async differingCopies(files: readonly DefinitionFile[]): Promise<string[]> {
    const store = await this.storeIfUp().catch(() => null);
    if (store === null) return [];
    return (await import('./saved-copy.ts')).differingCopies(store, files);
  }

  /** How the systems of a project stand, as `doctor` says it. */
  async systemEntries(project: string): Promise<DoctorEntry[]> {
    const [{ systemEntries }, store] = await Promise.all([import('./lookup/project-systems.ts'), this.storeIfUp()]);
    return systemEntries(project, store);
  }
}
