/** What a scripted host can answer by itself, without a script. */
import { readJsonText } from '../../language/read/text/json-text.ts';
import {
  programOf,
  readNestedDefinition,
  type GivenDefinition,
  type ReadDefinition,
} from '../../language/read/nested-definition.ts';
import { readStarted, referring, type Handed, type StartedProgram } from '../../language/read/started-program.ts';
import { KeepingNoLines, type Resolved } from '../host.ts';
import type { Verdict } from '../verdict.ts';
import { Scope } from './simulation.ts';
import type { ToldNested } from './told-nested.ts';
import type { Walk } from '../walk-state.ts';
import type { Library, World } from './world.ts';

export abstract class PlainAnswers extends KeepingNoLines {
  protected readonly world: World;
  abstract walk: Walk;
  protected told?: ToldNested;
  readonly judgedLast = new Map<string, readonly Verdict[]>();

  constructor(world: World) {
    super();
    this.world = world;
  }

  /** The step's key, behind the keys of the nested runs that lead to it. */
  keyOf(key: string): string {
    const [, ...nested] = this.walk.input.handle.split('/');
    return [...nested, key].join('/');
  }

  override judged(key: string, verdicts: readonly Verdict[]): void {
    this.judgedLast.set(key, verdicts);
  }

  now(): number {
    return this.world.simulation.now;
  }

  group<Result>(walk: () => Promise<Result>): { ended: Promise<Result>; cancel: () => void } {
    const { simulation } = this.world;
    const scope = new Scope(simulation.scope);
    return { ended: simulation.within(scope, walk), cancel: () => scope.cancel() };
  }

  suspended = (): void => this.told?.tell();

  performs(): boolean {
    return true;
  }

  /** Two texts have the same digest when they are the same, which is all that the walk relies on. */
  digest(text: string): Promise<string> {
    return Promise.resolve(text);
  }

  readDefinition(_key: string, given: GivenDefinition): Promise<ReadDefinition> {
    const { catalogue } = this.world;
    return Promise.resolve(readNestedDefinition(given, { catalogue, stored: this.referred(given) }));
  }

  readStarted(_key: string, handed: Handed): Promise<StartedProgram> {
    const stored = this.referred({ value: referring(handed), library: {} });
    return Promise.resolve(readStarted(handed, this.world.catalogue, stored));
  }

  /** A simulation does not look at the project. */
  resolve(): Promise<Resolved> {
    return Promise.resolve({ resolved: 'what the project says when the run is there' });
  }

  /** What the names in it lead to; a name that the run was started with keeps its meaning. */
  private referred({ value, library }: Pick<GivenDefinition, 'value' | 'library'>): Library {
    const found: Library = {};
    const program = programOf(value);
    const parsed = typeof program === 'string' ? readJsonText(program) : undefined;
    const waiting: unknown[] = [parsed?.ok === true ? parsed.value : program];
    while (waiting.length > 0) {
      const next = waiting.pop();
      if (typeof next !== 'object' || next === null) continue;
      waiting.push(...Object.values(next));
      const name: unknown = '$ref' in next ? next.$ref : undefined;
      if (typeof name !== 'string' || Object.hasOwn(library, name) || Object.hasOwn(found, name)) continue;
      const definition = this.world.stored?.(name);
      if (definition === undefined) continue;
      found[name] = definition;
      waiting.push(definition.steps, definition.always);
    }
    return found;
  }
}
