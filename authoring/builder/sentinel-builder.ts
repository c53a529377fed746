/**
 * Definitions in TypeScript: `sentinel('name')`, a step a call, `build()` at the end. The compiler
 * knows which variables are set, so a step can refer only to what came before it; what is built is
 * exactly the canonical form of language/model.ts, read and checked like any other definition.
 *
 *     const definition = sentinel('verify')
 *       .shell('tests', 'npm test')
 *       .when((ref) => `${ref('tests.exitCode')} === 0`, (then) => then.emit(null, 'tests:passed'))
 *       .build();
 *
 * A builder is never changed: each call returns another one.
 */
import { builtInCatalogue } from '../../systems/catalogue.ts';
import type { Catalogue, CommandEntry } from '../../language/catalogue.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import type * as model from '../../language/model.ts';
import type { Problem } from '../../language/problems.ts';
import { schemaFaults } from '../../language/params/schema-faults.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import { defined } from '../../language/defined.ts';
import { builtInParamCheck, builtInResultSchemas } from '../../client/lookup/built-in-params.ts';
import type { BuiltInCommands } from './built-in-commands.ts';
import type { Exactly, McpCommands, ParamsOf } from './command-params.ts';
import type {
  ApprovalResult,
  EmitResult,
  Given,
  InputSchema,
  InputsOf,
  Joined,
  LoopResult,
  NestedResult,
  Open,
  PathOf,
  Ref,
  ShapeOf,
  ShellResult,
  SleepResult,
  With,
} from './names.ts';

type Options<Step, Keys extends string> = Omit<Step, 'type' | 'outputTo' | Keys>;
type Settings = Omit<
  model.Definition,
  'name' | 'steps' | 'always' | 'loop' | 'inputs' | 'inputSchema' | 'outputs' | '$schema'
>;
type Place = 'root' | 'body';

/**
 * The commands that steps may name, with what they take. A project adds its own:
 *
 *     declare module 'sentinel-engine/builder' {
 *       interface Commands {
 *         'tracker/ticket': { id: string };
 *       }
 *     }
 */
export interface Commands extends BuiltInCommands, McpCommands {}

/** What a chain of calls leads to: a builder, of which only the names in sight are known. */
interface Built<Scope, At extends Place, Gives = unknown> {
  readonly scope: Scope;
  readonly at: At;
  /** What a run gives to its parent. */
  readonly gives: Gives;
}

/** Steps of a block: of a branch, a pass, a clean-up. */
export type Body<Scope, Next = unknown> = (steps: SentinelBuilder<Scope, 'body'>) => Built<Next, 'body'>;

type ScopeOf<Builder> = Builder extends Built<infer Scope, Place> ? Scope : never;
type ScopeAfter<Scope, Bodies extends readonly unknown[]> = Bodies extends readonly [infer First, ...infer Rest]
  ? ScopeAfter<First extends (steps: never) => infer Built ? Joined<Scope, ScopeOf<Built>> : Scope, Rest>
  : Scope;

interface Made {
  header: Partial<model.Definition> & { name: string };
  steps: readonly model.Step[];
  /** Inputs without a default: set when a run starts. */
  declared: readonly string[];
}

/** What is wrong with a definition that was built; the same problems that `sentinel validate` reports. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
  readonly problems: readonly Problem[];

  constructor(name: string, problems: readonly Problem[]) {
    super(
      `the sentinel "${name}" has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}: ${problems.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    );
    this.problems = problems;
  }
}

export function sentinel(name: string): SentinelBuilder<{}, 'root'> {
  return new SentinelBuilder({ header: { name }, steps: [], declared: [] });
}

export class SentinelBuilder<Scope, At extends Place, Gives = Scope> implements Built<Scope, At, Gives> {
  declare readonly scope: Scope;
  declare readonly at: At;
  declare readonly gives: Gives;
  readonly #made: Made;

  constructor(made: Made) {
    this.#made = made;
  }

  /** A variable that a run begins with; without a default it is given when the run starts. */
  input<Name extends string, Default extends Json = never>(
    this: SentinelBuilder<Scope, 'root'>,
    name: Name,
    ...byDefault: [] | [Default]
  ): SentinelBuilder<With<Scope, Name, [Default] extends [never] ? Open : ShapeOf<Default>>, 'root'> {
    const { header, declared } = this.#made;
    const [value] = byDefault;
    if (value === undefined) return this.#with({ declared: [...declared, name] });
    return this.#with({ header: { ...header, inputs: { ...header.inputs, [name]: value } } });
  }

  /** What a run takes, as a JSON Schema of an object: in place of `input`. */
  inputSchema<const Schema extends InputSchema>(
    this: SentinelBuilder<Scope, 'root'>,
    schema: Schema,
  ): SentinelBuilder<Joined<Scope, InputsOf<Schema>>, 'root'> {
    return this.#with({ header: { ...this.#made.header, inputSchema: schema } });
  }

  /** What a run gives, in place of its variables. Stated after the steps, it can refer to what they set. */
  outputs<const Outputs extends JsonObject>(
    this: SentinelBuilder<Scope, 'root'>,
    outputs: Given<Scope, Outputs>,
  ): SentinelBuilder<Scope, 'root', { [Name in keyof Outputs & string]: Open }> {
    return this.#with({ header: { ...this.#made.header, outputs: given(outputs) } });
  }

  /** Everything a definition says besides its steps, its loop, its inputs and its outputs. */
  settings(this: SentinelBuilder<Scope, 'root', Gives>, settings: Settings): SentinelBuilder<Scope, 'root', Gives> {
    return this.#with({ header: { ...this.#made.header, ...settings } });
  }

  /** How often the steps run; without it, once. Stated after the steps, it can refer to what they set. */
  loop(
    this: SentinelBuilder<Scope, 'root', Gives>,
    loop: Given<Scope, model.LoopConfig>,
  ): SentinelBuilder<Scope, 'root', Gives> {
    return this.#with({ header: { ...this.#made.header, loop: given(loop) } });
  }

  shell<const Name extends string | null>(
    name: Name,
    command: Given<Scope, string>,
    options: Given<Scope, Options<model.ShellStep, 'command'>> = {},
  ): SentinelBuilder<With<Scope, Name, ShellResult>, At> {
    return this.#step({ type: 'shell', command: given(command), ...given(options), ...setting(name) });
  }

  command<const Name extends string | null, const Command extends keyof Commands>(
    name: Name,
    command: {} extends Commands[Command] ? Command : 'a command that needs no params',
  ): SentinelBuilder<With<Scope, Name, Open>, At>;
  command<
    const Name extends string | null,
    const Command extends keyof Commands,
    const Written extends ParamsOf<Commands[Command]>,
  >(
    name: Name,
    command: Command,
    params: ParamsOf<Commands[Command]> | ((ref: Ref<Scope>) => Exactly<Written, Commands[Command]>),
    options?: Options<model.CommandStep, 'command' | 'params'>,
  ): SentinelBuilder<With<Scope, Name, Open>, At>;
  command<const Name extends string | null>(
    name: Name,
    command: string,
    params: Given<Scope, object> = {},
    options: Options<model.CommandStep, 'command' | 'params'> = {},
  ): SentinelBuilder<With<Scope, Name, Open>, At> {
    const written = given(params) as JsonObject;
    return this.#step({ type: 'command', command, params: written, ...options, ...setting(name) });
  }

  llm<const Name extends string | null>(
    name: Name,
    prompt: Given<Scope, string>,
    options: Given<Scope, Options<model.LlmStep, 'prompt'>> = {},
  ): SentinelBuilder<With<Scope, Name, Open>, At> {
    return this.#step({ type: 'llm', prompt: given(prompt), ...given(options), ...setting(name) });
  }

  emit<const Name extends string | null>(
    name: Name,
    event: Given<Scope, string>,
    options: Given<Scope, Options<model.EmitStep, 'event'>> = {},
  ): SentinelBuilder<With<Scope, Name, EmitResult>, At> {
    return this.#step({ type: 'emit', event: given(event), ...given(options), ...setting(name) });
  }

  watch<const Name extends string | null>(
    name: Name,
    options: Given<Scope, Options<model.WatchStep, never>>,
  ): SentinelBuilder<With<Scope, Name, Open>, At> {
    return this.#step({ type: 'watch', ...given(options), ...setting(name) });
  }

  approval<const Name extends string | null>(
    name: Name,
    message: Given<Scope, string>,
    options: Given<Scope, Options<model.ApprovalStep, 'message'>> = {},
  ): SentinelBuilder<With<Scope, Name, ApprovalResult>, At> {
    return this.#step({ type: 'approval', message: given(message), ...given(options), ...setting(name) });
  }

  /** A failure of the definition's own. */
  fail(message: Given<Scope, string>, options: Options<model.FailStep, 'message'> = {}): SentinelBuilder<Scope, At> {
    return this.#step({ type: 'fail', message: given(message), ...options });
  }

  sleep<const Name extends string | null>(
    name: Name,
    time: Given<Scope, Required<Pick<model.SleepStep, 'durationMs'>> | Required<Pick<model.SleepStep, 'until'>>>,
    options: Options<model.SleepStep, 'durationMs' | 'until'> = {},
  ): SentinelBuilder<With<Scope, Name, SleepResult>, At> {
    return this.#step({ type: 'sleep', ...given(time), ...options, ...setting(name) });
  }

  join<const Name extends string | null>(
    name: Name,
    handles: Given<Scope, Json>,
    options: Options<model.JoinStep, 'handles'> = {},
  ): SentinelBuilder<With<Scope, Name, Open>, At> {
    return this.#step({ type: 'join', handles: given(handles), ...options, ...setting(name) });
  }

  /** Variables, whose values are all read before any of them is set. */
  set<const Values extends JsonObject>(
    values: Given<Scope, Values>,
    options: Options<model.SetStep, 'values'> = {},
  ): SentinelBuilder<With<Scope, keyof Values & string, Open>, At> {
    return this.#step({ type: 'set', values: given(values), ...options });
  }

  /** A condition; what either branch sets is in sight after it, and has no value where the branch was not taken. */
  when<Then, Else = Scope>(
    check: Given<Scope, string>,
    then: Body<Scope, Then>,
    otherwise?: Body<Scope, Else>,
    options: Options<model.ConditionStep, 'check' | 'then' | 'else' | 'always'> = {},
  ): SentinelBuilder<Joined<Joined<Scope, Then>, Else>, At> {
    const branches = { then: this.#block(then), ...(otherwise === undefined ? {} : { else: this.#block(otherwise) }) };
    return this.#step({ type: 'condition', check: given(check), ...branches, ...options });
  }

  repeat<const Name extends string | null, Next>(
    name: Name,
    loop: Given<Scope, model.LoopConfig>,
    body: Body<Scope, Next>,
    options: Options<model.LoopStep, 'loop' | 'steps'> = {},
  ): SentinelBuilder<With<Next, Name, LoopResult>, At> {
    return this.#step({ type: 'loop', loop: given(loop), steps: this.#block(body), ...options, ...setting(name) });
  }

  /** A pass for each item of an array, which the body knows by the name given. */
  forEach<const Item extends string, Next>(
    item: Item,
    over: PathOf<Scope>,
    body: Body<With<Scope, Item, Open>, Next>,
    options: Options<model.LoopStep, 'loop' | 'steps'> = {},
  ): SentinelBuilder<Next, At> {
    const array = `$${over}`;
    const loop: model.LoopConfig = { type: 'count', max: `${array}.length`, over: array, as: item };
    return this.#step({ type: 'loop', loop, steps: this.#block(body), ...options });
  }

  /** Branches at once. None sees what another sets; all of it is in sight after them. */
  parallel<const Bodies extends readonly Body<Scope>[]>(
    branches: Bodies,
    options: Options<model.ParallelStep, 'branches' | 'over' | 'as' | 'steps' | 'itemErrors'> = {},
  ): SentinelBuilder<ScopeAfter<Scope, Bodies>, At> {
    return this.#step({ type: 'parallel', branches: branches.map((branch) => this.#block(branch)), ...options });
  }

  /** The body for each item of an array, several at once. None sees what another sets: the result lists what each of them kept. */
  map<const Name extends string | null, const Item extends string, Next>(
    name: Name,
    item: Item,
    over: PathOf<Scope>,
    body: Body<With<Scope, Item, Open>, Next>,
    options: Options<model.ParallelStep, 'branches' | 'failFast' | 'over' | 'as' | 'steps'> = {},
  ): SentinelBuilder<With<Scope, Name, readonly Open[]>, At> {
    const list = { over: `$${over}`, as: item, steps: this.#block(body) };
    return this.#step({ type: 'parallel', ...list, ...options, ...setting(name) });
  }

  /** A sentinel as a run of its own, which sees this one's variables: steps written here, a definition, or the name of one. */
  sentinel<const Name extends string | null, Child = {}>(
    name: Name,
    child:
      | ((child: SentinelBuilder<Scope, 'root'>) => Built<unknown, 'root', Child>)
      | model.Definition
      | model.DefinitionRef,
    options: Given<Scope, Options<model.SentinelStep, 'definition'>> = {},
  ): SentinelBuilder<With<Scope, Name, Joined<Child, NestedResult>>, At> {
    const definition =
      typeof child === 'function' ? ownMade(child(this.#empty<Scope, 'root'>(name ?? 'nested'))).#definition() : child;
    return this.#step({ type: 'sentinel', definition, ...given(options), ...setting(name) });
  }

  /** A step as it is written in a definition. */
  step<const Name extends string | null = null>(
    step: model.Step,
    _sets?: Name,
  ): SentinelBuilder<With<Scope, Name, Open>, At> {
    return this.#step(step);
  }

  /** Clean-up, however the run ends. */
  always(this: SentinelBuilder<Scope, 'root', Gives>, body: Body<Scope>): SentinelBuilder<Scope, 'root', Gives> {
    return this.#with({ header: { ...this.#made.header, always: this.#block(body) } });
  }

  /**
   * The canonical definition; throws `BuildError` when there is anything wrong with it. `commands`: those of the project,
   * by name or as they are defined; what they take is checked when a step is reached.
   */
  build(
    this: SentinelBuilder<Scope, 'root', Gives>,
    { commands = [] }: { commands?: readonly (string | { name: string })[] } = {},
  ): model.Definition {
    const definition = this.#definition();
    const read = parseDefinition(definition, {
      catalogue: { ...builtInCatalogue(), ...ownEntries(commands) },
      params: builtInParamCheck(schemaFaults),
      results: builtInResultSchemas(),
      // What a `$ref` names is looked for when a run starts.
      knownRefs: (name) => ({ name, steps: [], loop: { type: 'once' } }),
    });
    const problems = read.problems.filter((problem) => problem.severity === 'error' || this.#isUnknown(problem));
    if (!read.ok || problems.length > 0) throw new BuildError(definition.name, problems);
    return read.definition;
  }

  /** A builder knows every name, so one that nothing sets is a mistake here, unless it is an input that a run is given. */
  #isUnknown({ code, message }: Problem): boolean {
    return code === 'UNKNOWN_REFERENCE' && !this.#made.declared.some((name) => message.includes(`"${name}"`));
  }

  #definition(): model.Definition {
    const { header, steps } = this.#made;
    const { name, loop = { type: 'once' }, always, ...rest } = header;
    return { name, ...rest, steps: [...steps], ...defined({ always }), loop };
  }

  #empty<Inner, Where extends Place>(name: string): SentinelBuilder<Inner, Where> {
    return new SentinelBuilder({ header: { name }, steps: [], declared: this.#made.declared });
  }

  #block<Inner>(body: Body<Inner>): model.Step[] {
    return [...ownMade(body(this.#empty<Inner, 'body'>(''))).#made.steps];
  }

  #step<Next>(step: model.Step): SentinelBuilder<Next, At> {
    return new SentinelBuilder({ ...this.#made, steps: [...this.#made.steps, step] });
  }

  #with<Next, Outputs = Next>(change: Partial<Made>): SentinelBuilder<Next, 'root', Outputs> {
    return new SentinelBuilder({ ...this.#made, ...change });
  }
}

/** What a command may do is known where the run starts. */
const UNKNOWN: CommandEntry = { permission: 'read', speed: 'long' };

function ownEntries(commands: readonly (string | { name: string })[]): Catalogue {
  return Object.fromEntries(commands.map((command) => [typeof command === 'string' ? command : command.name, UNKNOWN]));
}

function ownMade(built: Built<unknown, Place>): SentinelBuilder<unknown, Place, unknown> {
  if (built instanceof SentinelBuilder) return built;
  throw new TypeError('a block of steps must return the builder it was given, with steps added to it');
}

const reference = (path: string): `$${string}` => `$${path}`;

function given<Scope, Value>(value: Given<Scope, Value>): Value {
  return typeof value === 'function' ? (value as (ref: Ref<Scope>) => Value)(reference) : value;
}

function setting(name: string | null): { outputTo?: string } {
  return name === null ? {} : { outputTo: name };
}
