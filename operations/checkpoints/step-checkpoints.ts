/**
 * The states of a project before and after each step that may write to it.
 *
 * - C1 The state before is written down before the step begins; an attempt that takes the step over keeps it.
 * - C2 A step never fails because no state could be taken: the row then says why.
 * - C3 Where nobody saw the step end, the row has no state after, and no undo guesses one.
 */
import { realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CheckpointOf,
  Checkpoints,
  LaterCheckpoints,
  ProjectState,
} from '../../prisma/store/contract/checkpoint-contract.ts';
import type { RowSink } from '../../prisma/store/contract/session-contract.ts';
import { CHECKPOINT_BOUNDS } from '../../world/git/trees/bounds.ts';
import { ProjectTrees } from './project-trees.ts';
import { placeOf, ShadowGit, TooLarge } from '../../world/git/trees/shadow-git.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export interface WritingStep extends CheckpointOf {
  project: string;
  /** `shell`, or the name of a command. */
  what: string;
  attempt: number;
  /** It only begins a process, which goes on. */
  isBackground: boolean;
  /** All that it can write, from the root of the project; absent where nobody can say. */
  paths?: readonly string[] | null;
}

type Taken = { state: ProjectState } | { skipped: string };

export class StepCheckpoints {
  readonly #rows: Checkpoints;
  readonly #home: string;
  readonly #trees = new Map<string, Promise<ProjectTrees>>();
  readonly #givenUp = new Map<string, { until: number; why: string }>();

  readonly #say: (text: string) => void;
  readonly #saidOf = new Set<string>();

  /** `home`: of Sentinel; the trees lie there. `say`: what a person should know of a look. */
  constructor(rows: Checkpoints, home: string, say: (text: string) => void = () => undefined) {
    this.#rows = rows;
    this.#home = home;
    this.#say = say;
  }

  /** Whether a state before is written down. With a `sink`, it will be with its next commit, which the step waits for. */
  async begin(step: WritingStep, sink?: RowSink): Promise<boolean> {
    const { handle, key, what, isBackground, attempt, paths = null } = step;
    const project = realOf(step.project);
    // The step itself says that its project is missing.
    if (project === null) return false;
    const takenAt = Date.now();
    const known = attempt > 1 ? await this.#rows.find({ handle, key }) : null;
    const taken: Taken = known === null ? await this.#take(project) : { skipped: '' };
    crashPoint('checkpoint.taken', { handle, key });
    const before = 'state' in taken ? taken.state : null;
    const skipped = 'skipped' in taken ? taken.skipped : null;
    const place = placeOf(this.#home, project);
    const own = { handle, key, what, project, place, isBackground, before, skipped, takenAt, paths };
    if (sink !== undefined) {
      this.#rows.later(sink).begin({ ...own, begunAt: Date.now() });
      return (known ?? own).before !== null;
    }
    const begun = await this.#rows.begin({ ...own, begunAt: Date.now() });
    crashPoint('checkpoint.begun', { handle, key });
    return begun.before !== null;
  }

  /** The step, or the process that it began, has ended. With a `sink`, its next commit says so. */
  async end({ handle, key, project }: CheckpointOf & { project: string }, sink?: RowSink): Promise<void> {
    crashPoint('checkpoint.ending', { handle, key });
    const root = realOf(project);
    const closedAt = Date.now();
    const taken = root === null ? null : await this.#take(root);
    if (taken === null) return;
    const times = { closedAt, endedAt: Date.now() };
    await this.#write(sink, (rows) =>
      'skipped' in taken
        ? rows.endUnseen({ handle, key }, taken.skipped, times)
        : rows.end({ handle, key }, taken.state, times),
    );
    if (sink === undefined) crashPoint('checkpoint.ended', { handle, key });
  }

  /** A step of which there is no state before: others in the project are told apart by when it ended. */
  async endWithout({ handle, key }: CheckpointOf, sink?: RowSink): Promise<void> {
    const now = Date.now();
    await this.#write(sink, (rows) => rows.endUnseen({ handle, key }, '', { closedAt: now, endedAt: now }));
  }

  async #write(
    sink: RowSink | undefined,
    write: (rows: Pick<Checkpoints, 'end' | 'endUnseen'> | LaterCheckpoints) => Promise<void> | void,
  ): Promise<void> {
    if (sink === undefined) await this.#persistently(async () => write(this.#rows));
    else await write(this.#rows.later(sink));
  }

  async #persistently(write: () => Promise<void>): Promise<void> {
    let waitMs: number = CHECKPOINT_BOUNDS.endRetryMs;
    for (let tried = 0; tried <= CHECKPOINT_BOUNDS.endRetries; tried += 1) {
      try {
        return await write();
      } catch {
        // What the step did is done. Without its end in the store an undo asks before it takes it back.
        await sleep(waitMs);
        waitMs *= 2;
      }
    }
  }

  /** The trees of a project; nobody of this process looks at it while they are used alone. */
  async treesOf(named: string): Promise<ProjectTrees> {
    const project = realOf(named) ?? named;
    const known = this.#trees.get(project);
    if (known !== undefined) return known;
    const opened = ShadowGit.open(placeOf(this.#home, project), project).then((git) => new ProjectTrees(git));
    this.#trees.set(project, opened);
    opened.catch(() => this.#trees.delete(project));
    return opened;
  }

  #tell(project: string, hidden: readonly string[]): void {
    if (hidden.length === 0 || this.#saidOf.has(project)) return;
    this.#saidOf.add(project);
    this.#say(
      `${project}: the system did not say that ${named(hidden)} changed. From now on all files are looked at after each step`,
    );
  }

  async #take(project: string): Promise<Taken> {
    const givenUp = this.#givenUp.get(project);
    if (givenUp !== undefined && Date.now() < givenUp.until) return { skipped: givenUp.why };
    try {
      const trees = await this.treesOf(project);
      const state = await trees.take();
      this.#tell(project, trees.hidden);
      return { state };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Somebody may have taken the folder away: the next step makes it anew.
      void this.#trees.get(project)?.then(
        (trees) => trees.close(),
        () => undefined,
      );
      this.#trees.delete(project);
      if (error instanceof TooLarge)
        this.#givenUp.set(project, { until: Date.now() + CHECKPOINT_BOUNDS.givenUpMs, why });
      return { skipped: why };
    }
  }
}

/** Some names, and how many more there are. */
const named = (paths: readonly string[]): string =>
  paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ');

function realOf(project: string): string | null {
  try {
    return realpathSync(project);
  } catch {
    return null;
  }
}
