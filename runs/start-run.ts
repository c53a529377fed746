/**
 * Starting a run: the definition is saved, the run gets its row, and the workflow starts with the
 * definition, and every definition its `$ref`s name, in its own history.
 */
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy, type Client } from '@temporalio/client';
import type { RunPort } from '../operations/command.ts';
import { withFiles } from '../operations/named-definitions.ts';
import { Failure } from '../world/failures/failures.ts';
import { blocksOf } from '../language/blocks.ts';
import { entriesFor, type Catalogue } from '../language/catalogue.ts';
import { reservedHandleFault } from '../language/events/reserved-events.ts';
import { startValues } from '../language/inputs/declared-inputs.ts';
import { inputFault } from '../language/inputs/refused-inputs.ts';
import { personaFault } from '../language/persona-id.ts';
import { faultOfValues, type JsonObject, type ValueFault } from '../language/json.ts';
import type { Definition, Step } from '../language/model.ts';
import type { Policy } from '../language/policy/policy.ts';
import { beyondTools } from '../language/rights/brought-program.ts';
import { readStarted, referring, type Handed } from '../language/read/started-program.ts';
import { unboundedReference } from '../language/read/checks/referred-bounds.ts';
import type { RunOrigin } from '../language/events/run-event.ts';
import { contentHash } from '../prisma/store/values/content-hash.ts';
import type { ConversationPart } from '../prisma/store/contract/models/conversation-contract.ts';
import type { Seeker } from '../prisma/store/contract/sentinel-contract.ts';
import { KEPT_VERSION, type NewRun, type RunStarter, type Store } from '../prisma/store/contract/contract.ts';
import { reachedDefinitions, referredDefinitions } from '../prisma/store/values/referred-definitions.ts';
import type { Inheritance } from '../interpreter/effect.ts';
import type { Position } from '../interpreter/position.ts';
import { workflowIdOf, WORKFLOW_TYPE } from '../workflows/messages/messages.ts';
import { memoOf, searchAttributesOf } from '../workflows/messages/search-attributes.ts';
import { ClientError, refuseFault } from './client-error.ts';
import { besides } from './policies.ts';
import { newHandle } from './handles.ts';
import { referencesOf } from './library.ts';
import { sandboxProblem } from './sandbox-check.ts';
import { sealEnvironment, withHanded } from './seal-environment.ts';
import { START_LEVEL, withoutEmpty, type StartInput } from '../workflows/messages/start-input.ts';
import { runController } from './run-controller.ts';
import { runSpeaker } from './run-speaker.ts';
import { stepEditor } from './step-editor.ts';
import { crashPoint } from '../world/crash-points/crash-point.ts';

export interface RunServices {
  store: Store;
  client: Client;
  /** The commands there are. */
  catalogue: Catalogue;
  taskQueue: string;
  /** The client shares its connection with a worker of the queue, so the server may hand the first task straight to it. */
  isEager?: boolean;
  /** Those that a project has for all its runs; absent: none. */
  policiesOf?: (project: string) => readonly Policy[];
  /** The run goes to workers on other hosts: what this host can do says nothing of them. */
  isElsewhere?: boolean;
}

export interface StartRequest {
  definition: Definition;
  inputs: JsonObject;
  project: string;
  persona: string;
  /** Defaults to a new one (handles.ts). */
  handle?: string;
  /** Draws a new handle from the definition's name; one that is taken is drawn again. */
  draw?: (name: string) => string;
  /** Definitions that `$ref`s may name, besides the stored ones. */
  known?: (name: string) => Definition | undefined;
  continueEvery?: number;
  /** What starts it, where nobody does by hand. */
  origin?: RunOrigin;
  /** Where it begins, if not with its first step. */
  from?: Position;
  /** What of other runs' conversations the models that are under way there go on with. */
  conversations?: ConversationPart[];
  /** What it has from the run whose step starts it; none where a person, a schedule or a trigger does. */
  inherited?: Inheritance;
  /** What is to hold for its actions besides what it inherits and what its project says. */
  policies?: readonly Policy[] | undefined;
  /** All that `$ref`s mean; without it they are looked up. */
  library?: { [name: string]: Definition };
  /** Its models, and those of runs below it, answer from this cassette, by its hash in the payloads. */
  cassette?: string;
  /** The run whose step starts it with a command. */
  by?: string;
  /** Tokens that this step hands over, by the names of their variables. */
  secrets?: { readonly [name: string]: string };
  /** Where neither a step nor a trigger does. Default: a person. */
  startedBy?: RunStarter;
  /** Whether its name finds it afterwards. By default it does where a person starts a file, and nothing else does. */
  saves?: boolean;
}

export interface StartedRun {
  handle: string;
  workflowId: string;
  /** False when a run with that handle was there already. */
  isNew: boolean;
}

/** More than chance can take. */
const DRAWS_MAX = 10;

export async function startRun(parts: RunServices, request: StartRequest): Promise<StartedRun> {
  const { handle, draw = newHandle, definition } = request;
  if (handle !== undefined) return startAs(handle, parts, request);
  for (let draws = 0; draws < DRAWS_MAX; draws += 1) {
    const started = await startAs(draw(definition.name), parts, request);
    if (started.isNew) return started;
  }
  throw new Error(`bug: ${DRAWS_MAX} handles for a run of ${definition.name} were drawn, and all of them are taken`);
}

async function startAs(handle: string, parts: RunServices, request: StartRequest): Promise<StartedRun> {
  const { store, client, taskQueue } = parts;
  const { definition, project, persona, origin, continueEvery, from, inherited } = request;
  refuseFault(reservedHandleFault(handle));
  // Background work is owned by the system's task, which no persona can be called.
  if (!isByEngine(request) && request.startedBy !== 'background') refuseFault(personaFault(persona));
  const workflowId = workflowIdOf(handle);
  const library = await collectLibrary(withFiles(store, parts.catalogue), request);
  if (parts.isElsewhere !== true) await checkSandbox([definition, ...Object.values(library)]);
  const inputs = inputsTaken(request, library);
  const policies = policiesFor(parts, request);
  const row = rowOf(handle, request, inputs);
  const isNew = await store.runs.create(row, origin?.type === 'event' ? origin.seq : undefined);
  crashPoint('start.recorded', { handle });
  // A row without events may be all that is left of a start that died on its way: then this is the start.
  const isTaken = !isNew && (request.handle === undefined || (await store.events.after(handle, -1, 1)).length > 0);
  if (isTaken) {
    if (isByEngine(request)) await refuseOther(store, row);
    return { handle, workflowId, isNew };
  }
  try {
    await keepBefore(store, handle, request, isNew);
    const own = await sealEnvironment(store, handle, environmentFor(definition, library));
    const env = withHanded(own, request.secrets);
    crashPoint('start.kept', { handle });
    await client.workflow.start(WORKFLOW_TYPE, {
      workflowId,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      taskQueue,
      requestEagerStart: parts.isEager ?? false,
      args: [
        withoutEmpty({
          definition,
          project,
          persona,
          inputs,
          library,
          catalogue: entriesFor(parts.catalogue, [definition, ...Object.values(library)]),
          nested: inherited,
          policies,
          env,
          continueEvery,
          places: inherited === undefined ? await placesFor(store, persona) : undefined,
          origin,
          level: START_LEVEL,
        }) satisfies StartInput,
        ...(from === undefined ? [] : [from]),
      ],
      typedSearchAttributes: searchAttributesOf({ definition, persona }),
      memo: memoOf(definition, project),
      ...summaryOf(definition),
    });
    crashPoint('start.started', { handle });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { handle, workflowId, isNew: false };
    if (isNew) await store.runs.discard(handle).catch(() => undefined);
    throw error;
  }
  return { handle, workflowId, isNew };
}

/** A run that a step starts is at work for the one whose step that is, and takes no place besides. */
export async function placesFor(
  { personaLimits }: Pick<Store, 'personaLimits'>,
  persona: string,
): Promise<true | undefined> {
  const limits = await personaLimits.of(persona);
  return (limits?.places ?? null) === null ? undefined : true;
}

/** Its project's, and its own. */
export function policiesFor(
  { policiesOf }: Pick<RunServices, 'policiesOf'>,
  { project, policies = [], inherited }: Pick<StartRequest, 'project' | 'policies' | 'inherited'>,
): Policy[] | undefined {
  const own = besides(inherited?.limits.policies ?? [], [...(policiesOf?.(project) ?? []), ...policies]);
  return own.length === 0 ? undefined : own;
}

const rowOf = (handle: string, request: StartRequest, inputs: JsonObject): NewRun => ({
  handle,
  name: request.definition.name,
  definitionHash: contentHash(request.definition),
  project: request.project,
  persona: request.persona,
  parent: null,
  inputs,
  startedAt: Date.now(),
  startedBy: starterOf(request),
});

/** Under a handle that is worked out, so that what is started again is started once. */
const isByEngine = ({ inherited, origin }: StartRequest): boolean =>
  origin?.type === 'event' || (inherited !== undefined && origin?.type !== 'fork');

function starterOf(request: StartRequest): RunStarter {
  if (isByEngine(request)) return request.origin?.type === 'event' ? 'trigger' : 'step';
  return request.startedBy ?? 'person';
}

/** What an engine starts again is there already; a run of others is not the one that it starts. */
async function refuseOther(store: Store, { handle, project, startedBy }: NewRun): Promise<void> {
  const found = await store.runs.find(handle);
  if (found === null || (found.startedBy === startedBy && found.project === project)) return;
  throw new Failure(
    'RUN_NOT_STARTED',
    `the handle "${handle}" is taken by a run that ${found.startedBy === 'person' ? 'a person' : `a ${found.startedBy}`} started in ${found.project}`,
  );
}

/** What a run that goes on from a position begins with was taken before. */
function inputsTaken(
  { definition, inputs, origin, from }: StartRequest,
  library: { [name: string]: Definition },
): JsonObject {
  const taken = { ...startValues(definition), ...inputs };
  refuseFault(faultOfInputs(taken));
  if (from !== undefined) return taken;
  const given = { ...inputs };
  // The event that the run is started by.
  if (origin?.type === 'event') delete given['event'];
  refuseFault(inputFault(definition, given, Object.values(library)));
  return taken;
}

/** What the run's first step has to find. */
async function keepBefore(store: Store, handle: string, request: StartRequest, isNew: boolean): Promise<void> {
  const { definition, conversations = [], cassette, by, inherited, origin } = request;
  // A name is moved by a person who gives what it is to stand for: not by a step that starts a run, and not by what goes
  // on from such a run, or starts what a step has kept.
  const { saves = inherited === undefined && origin === undefined } = request;
  const { persona, project } = request;
  await (saves
    ? store.definitions.save(definition, { persona, project, isPerson: true })
    : store.definitions.keep(definition));
  // What a start that died had said of it does not count.
  if (cassette !== undefined || !isNew) await store.cassettes.replay(handle, cassette ?? null);
  if (by !== undefined) await store.cassettes.startedBy(handle, by);
  for (const part of conversations) await store.conversations.copy(part, handle);
}

/** What a run, a schedule or a trigger may not be given. */
export const faultOfInputs = (inputs: JsonObject): ValueFault | null =>
  faultOfValues(inputs, (name) => `the input "${name}"`);

/** Nothing is stored or started that could not keep to its mode. */
async function checkSandbox(definitions: readonly Definition[]): Promise<void> {
  const problem = await sandboxProblem(definitions);
  if (problem !== null) throw new Failure('SANDBOX_NOT_AVAILABLE', problem);
}

/** The name is a search attribute already. Temporal refuses summaries over 200 bytes. */
export function summaryOf({ name, description }: Definition): { staticSummary?: string } {
  return description === undefined ? {} : { staticSummary: `${name}: ${description}`.slice(0, 60) };
}

type LibraryRequest = Pick<StartRequest, 'definition' | 'known' | 'library' | 'persona' | 'project'>;

/**
 * Every definition that `$ref`s reach from here, by name. A missing one fails its step when reached; a
 * loop that nothing bounds, as when a definition was stored again since, is refused.
 */
export async function collectLibrary(
  { definitions }: Pick<Store, 'definitions'>,
  { definition, known, library: given, persona, project }: LibraryRequest,
): Promise<{ [name: string]: Definition }> {
  const find = async (name: string): Promise<Definition | undefined> => {
    if (given !== undefined) return Object.hasOwn(given, name) ? given[name] : undefined;
    return known?.(name) ?? (await definitions.find(name, { persona, project }))?.definition;
  };
  const reached = await reachedDefinitions(referencesOf(definition), find, referencesOf);
  const unbounded = unboundedReference(definition, (name) => reached.get(name));
  if (unbounded !== undefined)
    throw new Failure('RUN_NOT_STARTED', `${unbounded}, or a "safety" with one of them to "${definition.name}"`);
  return Object.fromEntries(reached);
}

/** The values of the variables that the definition, or one it may start, lists; a run keeps those it was started with. */
export function environmentFor(
  definition: Definition,
  library: { [name: string]: Definition },
  from: NodeJS.ProcessEnv = process.env,
): { [name: string]: string } {
  const names = [definition, ...Object.values(library)].flatMap((start) => listedBy(start));
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}

function listedBy({ env = [], steps, always = [] }: Definition): string[] {
  const nested = (block: readonly Step[]): string[] =>
    block.flatMap((step) => {
      if (step.type !== 'sentinel') return blocksOf(step).flatMap((inner) => nested(inner.steps));
      return '$ref' in step.definition ? [] : listedBy(step.definition);
    });
  return [...env, ...nested(steps), ...nested(always)];
}

const isKept = async ({ definitions }: Store, name: string, seeker: Seeker): Promise<boolean> =>
  (await definitions.find(name, seeker))?.version === KEPT_VERSION;

/** What no person saved is the model's own that names it, whichever model stored it. */
async function inheritedBy(
  store: Store,
  handed: Handed,
  { inherited, offered: tools, ...seeker }: Seeker & { inherited: Inheritance; offered: string[] | undefined },
): Promise<Inheritance> {
  const { limits } = inherited;
  if (tools === undefined || limits.brought === undefined || !('name' in handed)) return inherited;
  return (await isKept(store, handed.name, seeker))
    ? { ...inherited, limits: { ...limits, brought: { tools } } }
    : inherited;
}

async function keptIn(store: Store, library: { [name: string]: Definition }, seeker: Seeker): Promise<Definition[]> {
  const kept = await Promise.all(
    Object.entries(library).map(async ([name, one]) => ((await isKept(store, name, seeker)) ? [one] : [])),
  );
  return kept.flat();
}

function refuseBeyond(definition: Definition, catalogue: Catalogue, tools: readonly string[]): void {
  const beyond = beyondTools(definition, catalogue, tools);
  if (beyond === null) return;
  const message = `the definition "${definition.name}" does more than the model that brings it: ${beyond}`;
  throw new Failure('RIGHTS_EXCEEDED', message);
}

/** What a step asks for and no run can have fails the step. */
function refusePolicies(parts: RunServices, request: Pick<StartRequest, 'project' | 'policies' | 'inherited'>): void {
  try {
    policiesFor(parts, request);
  } catch (error) {
    throw error instanceof ClientError ? new Failure('RUN_NOT_STARTED', error.message) : error;
  }
}

/** The port through which commands start runs. */
export function runStarter(parts: RunServices): RunPort {
  return {
    ...stepEditor(parts),
    ...runController(parts.client),
    ...runSpeaker(parts.client),
    async start({ handed, library, offered, ...asked }) {
      const { project, persona, inherited } = asked;
      const seeker = { project, persona };
      const request = {
        ...asked,
        inherited: await inheritedBy(parts.store, handed, { inherited, offered, ...seeker }),
      };
      const named = withFiles(parts.store, parts.catalogue);
      const stored = library ?? Object.fromEntries(await referredDefinitions(named, referring(handed), seeker));
      const read = readStarted(handed, parts.catalogue, stored);
      if ('fault' in read) throw new Failure('RUN_NOT_STARTED', read.fault);
      const { tools } = request.inherited.limits.brought ?? {};
      const own = tools === undefined ? [] : [read.definition, ...(await keptIn(parts.store, read.library, seeker))];
      for (const definition of own) refuseBeyond(definition, parts.catalogue, tools ?? []);
      const fault = faultOfInputs(request.inputs);
      if (fault !== null) throw new Failure(fault.code, fault.message);
      const refused = inputFault(read.definition, request.inputs, Object.values(read.library));
      if (refused !== null) throw new Failure('RUN_NOT_STARTED', refused.message);
      refusePolicies(parts, request);
      return startRun(parts, { ...request, ...read });
    },
  };
}
