/**
 * What a command calls while it is performed, within its step and its rights:
 *
 * - W1 It calls what needs the permission `read` or its own. Whoever approved it, or let its mode perform it, has looked at
 *      that permission alone.
 * - W2 It starts runs, asks models and edits runs where it states so (`uses`): its run has judged that, and set budget aside.
 * - W3 With a run that it has started itself it may do what it likes.
 * - W4 A quick one calls quick ones: nothing happens outside of its transaction.
 * - W5 What does more than read has a key of its own, which is the same in every attempt.
 */
import {
  asksModels,
  editsRuns,
  findCommand,
  startsRuns,
  type Catalogue,
  type CommandEntry,
} from '../language/catalogue.ts';
import { defined } from '../language/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import { permissionOfCommand } from '../language/permissions.ts';
import type { RunBudget } from '../interpreter/effect.ts';
import type { StepOptions } from '../interpreter/contract.ts';
import { Failure } from '../world/failures/failures.ts';
import type { Command, CommandContext } from './command.ts';
import { unsealedFor } from './secrets/secrets.ts';

type Stated = Pick<Command, 'name' | 'speed' | 'permission' | 'uses' | 'queue'>;

/** What a registry is here (registry.ts). */
interface Known {
  readonly catalogue: Catalogue;
  find(name: string): Command | undefined;
  run(name: string, params: Json, context: CommandContext): Promise<Json>;
}

export class CallsWithin {
  readonly #by: Stated;
  readonly #context: CommandContext;
  readonly #registry: Known;
  /** How often each was called. */
  readonly #counts = new Map<string, number>();
  readonly #started = new Set<string>();
  #starts = 0;

  constructor(by: Stated, context: CommandContext, registry: Known) {
    this.#by = by;
    this.#context = context;
    this.#registry = registry;
  }

  readonly call = async (name: string, params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> => {
    const { catalogue } = this.#registry;
    const entry = findCommand(catalogue, name);
    // One that there is not says so itself.
    if (entry === undefined) return this.#registry.run(name, params, this.#context);
    const needed = permissionOfCommand(catalogue, name, params);
    this.#refuse(name, entry, { needed, isOfOwn: this.#isOfOwn(name, params) });
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const { signal } = over;
    const context: CommandContext = {
      ...this.#context,
      ...(needed === 'read' ? {} : { key: `${this.#context.key}/${name}.${count}` }),
      ...this.#startsFor(name, entry),
      ...over,
      ...(signal === undefined ? {} : { signal: AbortSignal.any([this.#context.signal, signal]) }),
      hasStarted: (handle) => this.#started.has(handle),
    };
    const given = unsealedFor(this.#registry.find(name), params, this.#context.secrets);
    const result = await this.#registry.run(name, given, context);
    if (entry.otherRuns === 'starts' && isJsonObject(result) && typeof result['handle'] === 'string')
      this.#started.add(result['handle']);
    return result;
  };

  #refuse(name: string, entry: CommandEntry, { needed, isOfOwn }: { needed: string; isOfOwn: boolean }): void {
    const { name: by, speed, permission, uses = {} } = this.#by;
    if (speed === 'quick' && entry.speed === 'long')
      throw exceeds(
        `${by} is quick and calls ${name}, which takes long and acts outside of its transaction: make it "long"`,
      );
    if (entry.queue !== undefined && entry.queue !== this.#by.queue)
      throw exceeds(`${by} calls ${name}, which is performed on the queue "${entry.queue}": make it a step`);
    // A model is asked as a step asks one, which needs no permission.
    if (needed !== 'read' && needed !== permission && !isOfOwn && entry.asksModel !== true)
      throw exceeds(
        `${by} calls ${name}, which needs the permission "${needed}", and has "${permission}": state that one, or make it a step`,
      );
    if (asksModels(entry) && uses.models !== true)
      throw exceeds(`${by} calls ${name}, which asks a model: state "uses: { models: true }", or make it a step`);
    if (editsRuns(entry) && uses.edits !== true && !isOfOwn)
      throw exceeds(`${by} calls ${name}, which edits a run: state "uses: { edits: true }", or make it a step`);
  }

  /** What it names are runs that this command has started. */
  #isOfOwn(name: string, params: JsonObject): boolean {
    const { runParams = [] } = this.#registry.find(name) ?? {};
    const handles = runParams.flatMap((param) => params[param] ?? []);
    return handles.length > 0 && handles.every((handle) => typeof handle === 'string' && this.#started.has(handle));
  }

  /** What the runs inherit that it starts: of the budget that is set aside for all of them, an equal part each. */
  #startsFor(name: string, entry: CommandEntry): Pick<CommandContext, 'starts'> {
    if (!startsRuns(entry)) return {};
    const { name: by, uses: { runs: most = 0 } = {} } = this.#by;
    const { starts } = this.#context;
    const before = this.#starts;
    const after = before + (entry.uses?.runs ?? 1);
    if (after > most || starts === undefined)
      throw exceeds(
        most === 0 || starts === undefined
          ? `${by} calls ${name}, which starts a run: state "uses: { runs: 1 }", or as many as it starts at most, or make it a step`
          : `${by} starts more than the ${most} runs that it states: raise "uses.runs", or start them in several steps`,
      );
    this.#starts = after;
    return { starts: withPart(starts, { before, after, most }) };
  }
}

interface Part {
  before: number;
  after: number;
  most: number;
}

function withPart(starts: NonNullable<StepOptions['starts']>, part: Part): NonNullable<StepOptions['starts']> {
  const { budget } = starts.limits;
  if (budget === undefined) return starts;
  return { ...starts, limits: { ...starts.limits, budget: partOf(budget, part) } };
}

/** All parts together are the whole. */
function partOf({ steps, tokens, usd, ...rest }: RunBudget, { before, after, most }: Part): RunBudget {
  const counted = (whole: number | undefined): number | undefined =>
    whole === undefined ? undefined : Math.floor((whole * after) / most) - Math.floor((whole * before) / most);
  return {
    ...rest,
    ...defined({
      steps: counted(steps),
      tokens: counted(tokens),
      usd: usd === undefined ? undefined : (usd * (after - before)) / most,
    }),
  };
}

const exceeds = (finding: string): Failure => new Failure('RIGHTS_EXCEEDED', finding);
