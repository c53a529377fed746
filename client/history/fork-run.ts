/**
 * A new run from any step of an old one, with the results so far: what was done is not done again,
 * and not paid again. The old run stays as it is, whether it has ended or not.
 */
import { closest } from 'fastest-levenshtein';
import { placeIn, stepAt } from '../../language/edit.ts';
import { isCall } from '../../language/models/turn-keys.ts';
import { faultOfValues, type JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import type { Policy } from '../../language/policy/policy.ts';
import type { ItemsAgain, RunEvent } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import type { Inheritance } from '../../interpreter/effect.ts';
import { definitionPath } from '../../interpreter/keys.ts';
import { rightsOf } from '../../interpreter/limits.ts';
import { openModels } from '../../interpreter/models/open-models.ts';
import { stepsAt } from '../../interpreter/program.ts';
import { leaveWorkspaces } from '../../interpreter/workspace.ts';
import { everyEvent } from '../../prisma/store/runs/every-event.ts';
import { besidesPart, type ConversationPart } from '../../prisma/store/contract/models/conversation-contract.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';
import type { StartInput } from '../../workflows/messages/start-input.ts';
import { freshPosition, setVariableAt } from '../../workflows/history/fresh-position.ts';
import { advanceModels } from '../../workflows/history/kept-host.ts';
import type { RetraceTarget, Standing } from '../../workflows/history/retrace.ts';
import { adoptBounds, cleansUpCancelled, frameDifferences } from '../../workflows/history/same-frames.ts';
import type { Position } from '../../interpreter/position.ts';
import { ClientError, refuseFault } from '../../runs/client-error.ts';
import { givenHandleFault } from '../../runs/handles.ts';
import { starterHere } from '../rights/within-step.ts';
import { asClientWould } from '../contract/as-client-error.ts';
import { startRun, type RunServices } from '../../runs/start-run.ts';
import { viewerOf } from '../../runs/temporal-connection.ts';
import type { ListsAgain } from './ended-lists.ts';
import { historyOf, partsOf, type Part } from './histories.ts';
import { findListStanding } from './list-standing.ts';
import { beginningBefore, modelRecords } from './model-records.ts';
import type { ReplayParts } from './replay-history.ts';
import { retraceHistory } from './retrace-history.ts';
import { standingInSegment } from './segment-standing.ts';

export interface ForkRequest {
  handle: string;
  /** Key of the step that the new run begins with. */
  at: string;
  /** Variables as they are to be. */
  set?: JsonObject;
  /** The definition that the new run goes on with. */
  definition?: Definition;
  known?: (name: string) => Definition | undefined;
  /** Whose workers run it; defaults to those of the old run. */
  host?: string;
  /** Of the new run; defaults to a new one. */
  as?: string;
  persona?: string;
  /** In place of a step: lists of which items are performed again; `at` is the step around them. */
  lists?: ListsAgain;
  /** What holds besides the policies of the old run. */
  policies?: readonly Policy[];
  /** Where no person does. */
  startedBy?: 'person' | 'agent';
}

export interface Fork {
  handle: string;
  of: string;
  /** Where it begins: the step asked for, or the first of the segment that held it. */
  at: string;
  /** What of lists is performed again. */
  items?: ItemsAgain[];
}

/** `events`: those of the old run. */
export async function forkRun(
  parts: RunServices,
  bundle: ReplayParts['bundle'],
  request: ForkRequest,
  events: readonly RunEvent[],
): Promise<Fork> {
  const { handle: of, set = {}, definition: edited, known, as, persona, host, policies = [] } = request;
  const startedBy = await starterHere(request.startedBy);
  refuseFault(
    faultOfValues(set, (name) => `the variable "${name}"`) ??
      (as === undefined ? null : givenHandleFault(as, startedBy)),
  );
  const history = await partsOf(parts.client, of);
  const standing = await findStanding(parts, bundle, history, request, events);
  const taskQueue = host === undefined ? (history.at(-1)?.taskQueue ?? parts.taskQueue) : `sentinel@${host}`;
  const { at, start, items } = standing;
  const said = items === undefined ? {} : { items };
  if (cleansUpCancelled(standing.position)) {
    throw new ClientError(
      'FORK_REFUSED',
      `At ${at} steps of ${of} were cleaning up after a cancellation, which no other run can go on with; fork at a step before it.`,
    );
  }
  const position = freshPosition(standing.position, { takenAt: standing.now, now: Date.now(), anew: at });
  leaveWorkspaces(position, of, start.root);
  const definition = edited ?? start.definition;
  if (edited !== undefined) adopt(position, start.definition, edited, [...new Set([at, request.at])]);
  for (const [name, value] of Object.entries(set))
    setVariableAt(position, { path: pathOf(at), passes: passesOf(at) }, name, value);
  const replayed = await parts.store.cassettes.replayed(of);
  const isElsewhere = parts.isElsewhere === true || taskQueue !== parts.taskQueue;
  const started = await asClientWould(
    startRun(
      { ...parts, taskQueue, isElsewhere },
      {
        definition,
        inputs: start.inputs ?? {},
        project: start.project,
        persona: persona ?? start.persona,
        known: (name) => known?.(name) ?? start.library?.[name],
        origin: { type: 'fork', of, at, ...said },
        startedBy,
        policies: [...(start.policies ?? []), ...policies],
        ...rightsIn(start),
        from: position,
        conversations: conversationsIn(position, of),
        ...defined({ handle: as }),
        ...(replayed === null ? {} : { cassette: replayed.cassette }),
        ...defined({ continueEvery: start.continueEvery }),
      },
    ),
  );
  if (!started.isNew)
    throw new ClientError(
      'HANDLE_TAKEN',
      `The handle "${started.handle}" is taken by another run: choose another one (--id on the command line), or leave it out.`,
    );
  return { handle: started.handle, of, at, ...said };
}

/** What the models that are under way there have been told and have answered; what is said before the next turn is in the position. */
const conversationsIn = (position: Position, handle: string): ConversationPart[] =>
  openModels(position).map(({ key, turn, calls }) => {
    const turns = calls === undefined ? turn - 1 : turn;
    return { handle, conversation: key, turns, before: { turn: turns, part: besidesPart } };
  });

/** A run that a step of another one started may do no more when it is forked, and spends what it had left. */
export function rightsIn({ nested }: Pick<StartInput, 'nested'>): { inherited?: Inheritance } {
  if (nested === undefined) return {};
  const { depth, limits } = nested;
  const { budget } = limits;
  return { inherited: { depth, limits: { ...rightsOf(limits), ...defined({ budget }) } } };
}

/** `keys`: of the step where the new run begins, and of the one that was asked for. */
function adopt(position: Position, before: Definition, after: Definition, keys: readonly string[]): void {
  const [at = ''] = keys;
  const open = frameDifferences(position, after);
  const differences = open.length > 0 ? open : keys.flatMap((key) => missingStep(after, key));
  if (differences.length > 0) {
    throw new ClientError(
      'FORK_DEFINITION_DIFFERS',
      `The definition cannot go on from ${at}: ${differences.join('; ')}. Leave the steps that are open there in place, or fork before them.`,
    );
  }
  adoptBounds(position, before, after);
}

/** Where the definition ends before the step, the new run would have nothing to do there. */
function missingStep(definition: Definition, key: string): string[] {
  const path = pathOf(key);
  if (stepAt(definition, path) !== null) return [];
  const { block } = placeIn(path);
  const { length } = stepsAt(definition, block);
  return [`it has no "${path}" to begin with: "${block}" has ${length === 1 ? '1 step' : `${length} steps`}`];
}

/** Of a key's first part; those of a nested run or a turn are its own. */
const passesOf = (key: string): number[] =>
  (/@([\d.]+)/.exec(key)?.[1] ?? '')
    .split('.')
    .filter((word) => word !== '')
    .map(Number);

const pathOf = (key: string): string => definitionPath(key.slice(0, key.lastIndexOf('@')));

async function findStanding(
  parts: RunServices,
  bundle: ReplayParts['bundle'],
  history: readonly Part[],
  { handle, at: key, lists }: ForkRequest,
  events: readonly RunEvent[],
): Promise<Standing> {
  const { store, client } = parts;
  if (lists !== undefined) {
    const { standing, diverged: fault } = await findListStanding(parts, bundle, history, { handle, lists }, events);
    if (standing !== null) return standing;
    if (fault !== null) throw historyDiverges(handle, key, fault);
    throw new ClientError('FORK_KEY_NOT_REACHED', notEnded(handle, lists));
  }
  const { target, at } = await targetOf(store, handle, key, events);
  let diverged: Error | null = null;
  for (const { runId } of inOrderOfPromise(history, at)) {
    const part = await historyOf(client, handle, runId);
    const found = await retraceHistory(
      { bundle, store, viewer: viewerOf(client) },
      { history: part, workflowId: workflowIdOf(handle) },
      onTheWayTo(target, part),
    );
    if ('standing' in found) {
      const standing = await standingInSegment(store, handle, found.standing, target);
      const { position } = standing;
      const models = await modelRecords(store, handle, { history: part, position, target: target.turn, events });
      return {
        ...standing,
        at: target.turn === undefined ? standing.at : target.key,
        position: await advanceModels(standing, models),
      };
    }
    diverged ??= found.missing;
  }
  if (diverged !== null) throw historyDiverges(handle, key, diverged);
  const before = await forkedFrom(store, key, events);
  throw new ClientError('FORK_KEY_NOT_REACHED', notReached(handle, key, events, before));
}

function historyDiverges(handle: string, key: string, diverged: Error): ClientError {
  const message = `The history of ${handle} goes another way with this version before it comes to ${key}: "sentinel replay ${handle}" shows where (${firstLine(diverged)}).`;
  return new ClientError('HISTORY_DIVERGES', message, { cause: diverged });
}

function notEnded(handle: string, { at, picks }: ListsAgain): string {
  const keys = picks.map((pick) => pick.at).join(', ');
  const around = picks.some((pick) => pick.at === at) ? '' : `, or not to that of ${at} around it`;
  return `${handle} did not come to the end of ${keys} with items to perform again${around}; "sentinel fork ${handle} --at KEY" starts a run from any of its steps.`;
}

/** The run that came to the step, among those that this one was forked from: a fork has no steps from before it began. */
async function forkedFrom(
  store: RunServices['store'],
  key: string,
  events: readonly RunEvent[],
): Promise<string | null> {
  const origin = events.find((event) => event.type === 'run-started')?.origin;
  if (origin?.type !== 'fork') return null;
  const before: RunEvent[] = [];
  for await (const event of everyEvent(store, origin.of)) before.push(event);
  return before.some((event) => event.key === key) ? origin.of : forkedFrom(store, key, before);
}

/** Where the workflow itself stood before the turn. */
function onTheWayTo(target: RetraceTarget, part: Parameters<typeof beginningBefore>[0]): RetraceTarget {
  const { turn } = target;
  if (turn === undefined) return target;
  const number = beginningBefore(part, turn);
  if (number > 1) return { ...target, turn: { ...turn, number } };
  return { key: turn.conversation, seq: null };
}

/** `at`: about when the run was there. Before the first turn of a step stands the step itself. */
async function targetOf(
  store: RunServices['store'],
  handle: string,
  key: string,
  events: readonly RunEvent[],
): Promise<{ target: RetraceTarget; at: number | undefined }> {
  const [, conversation = '', number = ''] = TURN.exec(key) ?? [];
  if (conversation === '' || number === '1') {
    const step = conversation === '' ? key : conversation;
    const first = events.find((event) => event.key === step);
    return { target: { key: step, seq: first?.seq ?? null }, at: first?.at };
  }
  const turns = (await store.conversations.turns(handle)).filter((turn) => turn.conversation === conversation);
  const begun = turns.find(({ turn }) => turn === Number(number));
  const last = turns.at(-1);
  if (begun === undefined && last !== undefined)
    throw new ClientError(
      'FORK_KEY_NOT_REACHED',
      `${handle} never came to ${key}; the last turn of ${conversation} is ${conversation}/turn.${last.turn}.`,
    );
  const turn = { conversation, number: Number(number) };
  return { target: { key: `${conversation}/turn.${number}`, seq: null, turn }, at: begun?.begunAt };
}

/** A turn that was tried again begins with its first try. */
const TURN = /^([^/]+@[^/]+)\/turn\.(\d+)(?:#\d+)?$/;

/**
 * A step that has an event is in the part that was under way then, by the run's clock; the clock of a
 * segment is another machine's, so its neighbours come next. A step without any can only be ahead.
 */
function inOrderOfPromise(parts: readonly Part[], at: number | undefined): readonly Part[] {
  const last = parts.length - 1;
  if (at === undefined) return parts.slice(-1);
  const likely = Math.max(
    0,
    parts.findLastIndex(({ startedAt }) => startedAt <= at),
  );
  return [likely, likely - 1, likely + 1]
    .filter((index) => index >= 0 && index <= last)
    .flatMap((index) => parts[index] ?? []);
}

function notReached(handle: string, key: string, events: readonly RunEvent[], before: string | null): string {
  if (before !== null)
    return `${handle} never came to ${key}, but ${before}, which it was forked from, did: fork that run, "sentinel fork ${before} --at ${key}".`;
  const words = key.split('/');
  const last = words.findLastIndex((word) => word.includes('@'));
  if (last > 0) {
    const [nested, inner] = [words.slice(0, last).join('/'), words.slice(last).join('/')];
    return `${key} is a step of a nested run: fork that run, "sentinel fork ${handle}/${nested} --at ${inner}".`;
  }
  if (isCall(key)) {
    const turn = key.slice(0, key.lastIndexOf('/'));
    return `${key} is what a model called; fork where its turn begins, "sentinel fork ${handle} --at ${turn}", or at its step.`;
  }
  const near = nearestKeys(key, events);
  const hint =
    near.length === 0
      ? `"sentinel trace ${handle}" shows its steps`
      : `the nearest steps it came to: ${near.join(', ')}`;
  return `${handle} never came to ${key}; ${hint}.`;
}

function nearestKeys(key: string, events: readonly RunEvent[]): string[] {
  const keys = new Set(
    events.filter(({ type }) => type === 'step-started' || type === 'step-finished').map((event) => event.key),
  );
  const near: string[] = [];
  while (near.length < 3 && keys.size > 0) {
    const next = closest(key, [...keys]);
    keys.delete(next);
    near.push(next);
  }
  return near;
}

const firstLine = (error: Error): string => (error.message.split('\n')[0] ?? '').slice(0, 200);
