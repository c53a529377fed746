/** A run in a project that is, or lies in, a git repository, and what it is shown to have moved there. */
import { changesOf, type StepChanges } from '../../../operations/checkpoints/changes.ts';
import { StepCheckpoints, type WritingStep } from '../../../operations/checkpoints/step-checkpoints.ts';
import type { Undone, UndoRequest } from '../../../operations/checkpoints/undo.ts';
import { undoRun } from '../../../operations/checkpoints/undo-run.ts';
import { moveOf } from '../../../client/show/moved-refs.ts';
import { useStore } from '../../store/harness/opened.ts';
import { writtenProject, type WrittenProject } from './written-project.ts';

const opened = useStore();

export interface RunInRepository extends WrittenProject {
  handle: string;
  commit(name: string): string;
  begin(key: string, over?: Partial<WritingStep>): Promise<boolean>;
  end(key: string): Promise<void>;
  step(key: string, act: () => unknown, over?: Partial<WritingStep>): Promise<void>;
  changes(): Promise<StepChanges[]>;
  /** A line for each ref of each step. */
  moved(): Promise<string[]>;
  undo(request?: Partial<UndoRequest>): Promise<Undone>;
  /** Another run in the same project. */
  beside(): RunInRepository;
}

let runs = 0;

/** `project`: one that is there. Otherwise one with a first commit of these files. */
export async function openRepositoryRun(
  files: Readonly<Record<string, string>>,
  project?: string,
): Promise<RunInRepository> {
  const written = await writtenProject(project === undefined ? files : {});
  if (project === undefined) {
    written.git('init', '-q', '-b', 'main');
    written.git('add', '.');
    written.git('commit', '-qm', 'first');
  }
  const at = project ?? written.project;
  return runIn({ ...written, project: at, git: (...args) => written.git('-C', at, ...args) });
}

function runIn(written: WrittenProject): RunInRepository {
  runs += 1;
  const handle = `in-repository-${runs}`;
  const rows = opened.store.checkpoints;
  const checkpoints = new StepCheckpoints(rows, written.home);
  const of = (key: string, over: Partial<WritingStep> = {}): WritingStep => ({
    handle,
    key,
    project: written.project,
    what: 'shell',
    attempt: 1,
    isBackground: false,
    ...over,
  });
  const run: RunInRepository = {
    ...written,
    handle,
    commit: (name) => written.git('rev-parse', name).trim(),
    begin: (key, over) => checkpoints.begin(of(key, over)),
    end: (key) => checkpoints.end(of(key)),
    async step(key, act, over) {
      await run.begin(key, over);
      await act();
      await run.end(key);
    },
    changes: () => changesOf(opened.store.checkpoints, { handle, patches: true }),
    async moved() {
      return (await run.changes()).flatMap(({ key, refs }) => refs.map((ref) => `${key} ${ref.name} ${moveOf(ref)}`));
    },
    undo: (request = {}) => undoRun(opened.store.checkpoints, { handle, ...request }),
    beside: () => runIn(written),
  };
  return run;
}
