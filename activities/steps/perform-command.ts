/** A command of a step, or one that a model called: limited, claimed, between two states of the project, with its own session. */
import { findCommand } from '../../language/catalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { CommandEffect } from '../../interpreter/effect.ts';
import type { CommandContext } from '../../operations/command.ts';
import type { StepCheckpoints } from '../../operations/checkpoints/step-checkpoints.ts';
import type { Registry } from '../../operations/registry.ts';
import { secretsOfCall, unsealedFor, withMaskedFailures, type Secrets } from '../../operations/secrets/secrets.ts';
import type { OpenSession, Store } from '../../prisma/store/contract/contract.ts';
import type { DayBudgets } from '../limits/day-budgets.ts';
import { useOf, type Limiter } from '../limits/limiter.ts';
import { runCall, secondTime } from '../turns/run-call.ts';
import { checkpointed, keepState, type Writing, writingOf } from './checkpointed.ts';
import { isProcessLeft, keepingOfCall } from './keeping.ts';
import { once, reading } from './once.ts';
import { Spent, usesModels } from './spent.ts';

export interface CommandParts {
  store: Store;
  registry: Registry;
  /** Null: steps write without a state of the project before. */
  checkpoints: StepCheckpoints | null;
  /** Absent: nothing is limited. */
  limiter?: Limiter;
  /** Absent: no persona has a budget of a day. */
  days?: DayBudgets;
}

export type KnownContext = CommandContext & { secrets: Secrets };

/** When it is its turn: nothing of it has happened before. */
export async function performCommand(parts: CommandParts, asked: Commanded, context: KnownContext): Promise<Json> {
  const { run, key, timeoutMs, signal, attempt } = context;
  const begins = { persona: run.persona, handle: run.handle, key };
  // What its rate limit holds back has not begun.
  if (attempt === 1) await parts.days?.check(begins);
  const work = async (): Promise<Json> => {
    if (attempt === 1) await parts.days?.begin(begins);
    return performAtOnce(parts, asked, context);
  };
  return parts.limiter?.tool(asked.command, { id: useOf(run.handle, key), timeoutMs, signal }, work) ?? work();
}

type Commanded = Pick<CommandEffect, 'command' | 'params'> & { call?: CommandEffect['call'] | undefined };

async function performAtOnce(
  parts: CommandParts,
  { command, params, call }: Commanded,
  context: KnownContext,
): Promise<Json> {
  if (call === undefined) return runCommand(parts, command, params, context);
  const { store, registry } = parts;
  const secrets = secretsOfCall(context.secrets, context.reach?.env);
  const called = { ...context, secrets, ...keepingOfCall(context.keeping) };
  const isApart = usesModels(registry, command);
  let usage: Json | undefined;
  const writing = writingAtOnce(parts, command, params, called);
  const perform = async (tried: number): Promise<Json> => {
    const run = writing === null ? runCommand : performOnce;
    const result = await run(parts, command, params, { ...called, attempt: tried });
    if (!isApart || !isJsonObject(result)) return result;
    usage = result['usage'];
    return result['value'] ?? null;
  };
  const { key, attempt, run } = context;
  const isLeft = (): boolean => isProcessLeft(registry.find(command), params, context);
  const asked = { handle: run.handle, key, attempt, command, params };
  return runCall({ store, catalogue: registry.catalogue }, call, asked, {
    perform,
    usage: () => usage,
    isLeft,
    keepState: writing === null ? undefined : (rows) => keepState(parts.checkpoints, called, writing, rows),
  });
}

/**
 * Of a call that nobody can have begun before, which its claim and its outcome are to take the rows of. Null where it
 * keeps its states itself, or writes nothing.
 */
function writingAtOnce(
  { registry }: CommandParts,
  command: string,
  params: JsonObject,
  context: KnownContext,
): Writing | null {
  if (context.attempt > 1 || secondTime(registry.catalogue, { command, params }) !== 'harm') return null;
  const writing = writingOf(registry, command, params, context);
  return writing?.isBackground === true ? null : writing;
}

/** Between two states of the project, where it may write to it. */
async function runCommand(parts: CommandParts, name: string, params: JsonObject, context: KnownContext): Promise<Json> {
  const perform = (): Promise<Json> => performOnce(parts, name, params, context);
  const writing = writingOf(parts.registry, name, params, context);
  return writing === null ? perform() : checkpointed(parts.checkpoints, context, writing, perform);
}

/** Of one that `uses` models: what it spent stands beside its result. */
async function performOnce(
  parts: CommandParts,
  name: string,
  params: JsonObject,
  context: KnownContext,
): Promise<Json> {
  const { secrets } = context;
  const { store, registry } = parts;
  const spent = usesModels(registry, name) ? new Spent((...asked) => context.turn(...asked)) : null;
  const run = async (session: OpenSession): Promise<Json> =>
    withMaskedFailures(secrets, async () => {
      const value = await registry.run(name, unsealedFor(registry.find(name), params, secrets), {
        ...context,
        session,
        ...(spent === null ? {} : { turn: spent.turn }),
      });
      const result = secrets.results.json(value);
      return spent?.beside(result) ?? result;
    });
  const isReading = findCommand(registry.catalogue, name)?.permission === 'read';
  try {
    return await (isReading ? reading(store, run) : once(store, context, run));
  } catch (error) {
    throw spent?.in(error) ?? error;
  }
}
