/** The commands of a cycle over a real store, as the step of a run performs them and as a person answers them. */
import type { Choice } from '../../../language/events/question.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { StepCheckpoints } from '../../../operations/checkpoints/step-checkpoints.ts';
import type { CommandContext, RunPort } from '../../../operations/command.ts';
import { withLeases } from '../../../operations/leases.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Opened } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';
import { STATES_BEFORE_APPROVAL } from './states-before-approval.ts';

export const registry = builtInRegistry();

export const HANDLE = 'cycling';

/** With a first commit of the files. */
export async function repositoryWith(files: Readonly<Record<string, string | Buffer>>): Promise<WrittenProject> {
  const project = await writtenProject(files);
  project.git('init', '-q', '-b', 'main');
  project.git('config', 'user.name', 'Tester');
  project.git('config', 'user.email', 'tester@example.org');
  project.git('add', '.');
  project.git('commit', '-q', '-m', 'first');
  return project;
}

/** A run that was asked in this pass of the step, and answered so; null: nobody was asked. `isOther`: about another step. */
export function answered(choice: Choice | null, { isOther = false, pass = 1 } = {}): Partial<CommandContext> {
  const id = `steps.approve@${pass}`;
  const answer = choice === null ? [] : [{ id, answer: { choice, note: null, data: null, by: 'ada', at: 1 } }];
  const asks: RunPort['asks'] = () => Promise.resolve({ questions: [], answered: answer });
  return { key: isOther ? `steps.other@${pass}` : id, runPort: { ...commandContext('/').runPort, asks } };
}

export interface Cycling {
  /** As the step of a run performs it. */
  step: (command: string, params: JsonObject, over?: Partial<CommandContext>, handle?: string) => Promise<JsonObject>;
  to: (state: string, more?: JsonObject) => Promise<JsonObject>;
  /** What a person is shown. */
  look: (changeset: JsonObject) => Promise<Json>;
  /** Shown and answered at once. */
  approve: (changeset: JsonObject, over?: Partial<CommandContext>) => Promise<JsonObject>;
  awaitingApproval: () => Promise<void>;
  /** The data of all `fsm:transition` there were, in order. */
  published: () => Promise<Json[]>;
}

/** `project`: the one of the test that is under way. */
export function cyclingIn(opened: Opened, project: () => WrittenProject): Cycling {
  let keys = 0;
  const checkpoints = (): StepCheckpoints => new StepCheckpoints(opened.store.checkpoints, project().home);
  const step: Cycling['step'] = async (command, params, over = {}, handle = HANDLE) => {
    const { store } = opened;
    const session = store.session();
    try {
      keys += 1;
      const key = `steps.${keys}@1`;
      const context = commandContext(project().project, { store, session, key, checkpoints: checkpoints(), ...over });
      const inRun = { ...context, run: { ...context.run, handle, project: project().project } };
      return (await withLeases(inRun, async (leased) => {
        const result = await registry.run(command, params, leased);
        await session.commit({ handle, key: `${inRun.key} ${keys}`, result, events: [] });
        return result;
      })) as JsonObject;
    } finally {
      await session.close();
    }
  };
  const to: Cycling['to'] = (state, more = {}) => step('cycle/transition', { to: state, ...more });
  const look: Cycling['look'] = (changeset) =>
    registry.resolve('changeset/approve', changeset, commandContext(project().project, { checkpoints: checkpoints() }));
  return {
    step,
    to,
    look,
    approve: async (changeset, over = answered('approve')) =>
      step('changeset/approve', changeset, { ...over, resolved: await look(changeset) }),
    async awaitingApproval() {
      await step('cycle/start', { goal: 'change a' });
      for (const state of STATES_BEFORE_APPROVAL) await to(state, { must: true });
    },
    async published() {
      const rows = await opened.database.query<{ data: Json }>(
        "select data from published_events where name = 'fsm:transition' order by seq",
      );
      return rows.map(({ data }) => data);
    },
  };
}

/** What `changeset/apply` takes of what was approved. */
export const toApply = ({ digest = '', operations = [] }: JsonObject): JsonObject => ({ digest, operations });

/** Of what was shown or approved; empty where nothing was. */
export const digestOf = ({ digest }: JsonObject): string => (typeof digest === 'string' ? digest : '');
