/**
 * The states of a project before and after each step that may write to it.
 *
 * - C1 The state before is written down before the step begins; an attempt that takes the step over keeps it.
 * - C2 A step never fails because no state could be taken: the row then says why.
 * - C3 Where nobody saw the step end, the row has no state after, and no undo guesses one.
 */
import { realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckpointOf, Checkpoints, ProjectState } from '../../prisma/store/contract/checkpoint-contract.ts';
import { CHECKPOINT_BOUNDS } from '../../world/git/trees/bounds.ts';
import { ProjectTrees } from './project-trees.ts';
import { placeOf, ShadowGit, TooLarge } from '../../world/git/trees/shadow-git.ts';

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

  /** `home`: of Sentinel; the trees lie there. */
  constructor(rows: Checkpoints, home: string) {
    this.#rows = rows;
    this.#home = home;
  }

  /** Whether a state before is written down. */
  async begin(step: WritingStep): Promise<boolean> {
    const { handle, key, what, isBackground, attempt, paths = null } = step;
    const project = realOf(step.project);
    // The step itself says that its project is missing.
    if (project === null) return false;
    const takenAt = Date.now();
    const known = attempt > 1 ? await this.#rows.find({ handle, key }) : null;
    const taken: Taken = known === null ? await this.#take(project) : { skipped: '' };
    const begun = await this.#rows.begin({
      handle,
      key,
      what,
      project,
      place: placeOf(this.#home, project),
      isBackground,
      before: 'state' in taken ? taken.state : null,
      skipped: 'skipped' in taken ? taken.skipped : null,
      takenAt,
      begunAt: Date.now(),
      paths,
    });
    return begun.before !== null;
  }

  /** The step, or the process that it began, has ended. */
  async end({ handle, key, project }: CheckpointOf & { project: string }): Promise<void> {
    const root = realOf(project);
    const closedAt = Date.now();
    const taken = root === null ? null : await this.#take(root);
    const times = { closedAt, endedAt: Date.now() };
    if (taken === null) return;
    await this.#persistently(() =>
      'skipped' in taken
        ? this.#rows.endUnseen({ handle, key }, taken.skipped, times)
        : this.#rows.end({ handle, key }, taken.state, times),
    );
  }

  /** A step of which there is no state before: others in the project are told apart by when it ended. */
  async endWithout({ handle, key }: CheckpointOf): Promise<void> {
    const now = Date.now();
    await this.#persistently(() => this.#rows.endUnseen({ handle, key }, '', { closedAt: now, endedAt: now }));
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

  async #take(project: string): Promise<Taken> {
    const givenUp = this.#givenUp.get(project);
    if (givenUp !== undefined && Date.now() < givenUp.until) return { skipped: givenUp.why };
    try {
      const trees = await this.treesOf(project);
      return { state: await trees.take() };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Somebody may have taken the folder away: the next step makes it anew.
      this.#trees.delete(project);
      if (error instanceof TooLarge)
        this.#givenUp.set(project, { until: Date.now() + CHECKPOINT_BOUNDS.givenUpMs, why });
      return { skipped: why };
    }
  }
}

function realOf(project: string): string | null {
  try {
    return realpathSync(project);
  } catch {
    return null;
  }
}
