/**
 * What a step would be answered, without asking the world: scripted replies first; then a command says itself what it
 * would do to the files of the project (writes go to the overlay) and to records, which are kept for as long as the
 * simulation lasts; and a command line is taken to succeed without a word.
 */
import type { Command } from '../../operations/command.ts';
import type { SimulatedWorld } from '../../operations/predicted.ts';
import { accessOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { JsonObject } from '../../language/json.ts';
import type { Effect } from '../../interpreter/effect.ts';
import { limitAsked } from '../../interpreter/limits.ts';
import {
  deedOf,
  Script,
  type Interruption,
  type ScriptedAnswer,
  type ScriptedReply,
  type ScriptSource,
} from '../../interpreter/simulation/script.ts';
import type { Overlay } from './overlay.ts';

export interface Prediction {
  effect: Effect;
  /** What would happen, in a few words. */
  text: string;
  source: 'replies' | 'project' | 'assumed';
}

/** A command, and what it would do. */
export type Predicting = Pick<Command, 'name' | 'predict'>;

type Commanded = Extract<Effect, { type: 'command' }>;

interface Predicted {
  text: string;
  source: Prediction['source'];
  /** Absent: the usual reply. */
  reply?: ScriptedReply;
}

export class Predictions extends Script {
  /** By the key of the step, behind the keys of the nested runs that lead to it. */
  readonly made = new Map<string, Prediction>();
  /** The simulation was ended after `stepsMax` effects. */
  isCut = false;
  readonly #overlay: Overlay;
  readonly #stepsMax: number;
  readonly #records: JsonObject[] = [];
  readonly #commands: ReadonlyMap<string, Predicting>;

  constructor(source: ScriptSource, overlay: Overlay, stepsMax: number, commands: readonly Predicting[]) {
    super(source);
    this.#commands = new Map(commands.map((command) => [command.name, command]));
    this.#overlay = overlay;
    this.#stepsMax = stepsMax;
  }

  override find(key: string, effect: Effect): ScriptedReply | null {
    const scripted = super.find(key, effect);
    const { reply, ...made } =
      scripted === null ? this.#predict(effect) : { text: doing(effect), source: 'replies' as const, reply: scripted };
    this.made.set(key, { effect, ...made });
    return reply ?? null;
  }

  override interruptionsAt(key: string, when: 'before' | 'during'): Interruption[] {
    if (when !== 'before' || this.made.size < this.#stepsMax) return super.interruptionsAt(key, when);
    this.isCut = true;
    return [{ at: key, do: 'stop' }];
  }

  /** Whoever is asked agrees; where agreeing is no choice, the run is given up. */
  override answersTo(key: string): ScriptedAnswer[] {
    const given = super.answersTo(key);
    // At a limit it is resumed, as the scripted host does by itself.
    return given.length > 0 || limitAsked(key.split('/').at(-1) ?? key) !== null
      ? given
      : [
          { choice: 'approve', by: 'the simulation' },
          { choice: 'abort', by: 'the simulation', afterMs: 20 },
        ];
  }

  #predict(effect: Effect): Predicted {
    try {
      return this.#assume(effect);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { code, message, retryable } = error.toInfo();
      return { text: doing(effect), source: 'project', reply: { ok: false, failure: { code, message, retryable } } };
    }
  }

  #assume(effect: Effect): Predicted {
    if (effect.type === 'command') return this.#command(effect);
    if (effect.type === 'shell' && effect.cwd !== undefined) this.#overlay.check(effect.cwd, accessOf(effect));
    return { text: doing(effect), source: 'assumed' };
  }

  #command({ command, params, ...asking }: Commanded): Predicted {
    const access = accessOf(asking);
    const world: SimulatedWorld = {
      files: {
        read: (path) => this.#overlay.read(path, access),
        write: (path, content) => this.#overlay.write(path, content, access),
        check: (path) => this.#overlay.check(path, access),
      },
      records: this.#records,
    };
    const predicted = this.#commands.get(command)?.predict?.(params, world);
    if (predicted === undefined) return { text: command, source: 'assumed' };
    const { result, ...said } = predicted;
    return { ...said, ...(result === undefined ? {} : { reply: { ok: true, value: result } }) };
  }
}

const VERBS: { [type in Effect['type']]?: string } = {
  shell: 'runs',
  emit: 'publishes',
  sentinel: 'starts',
  turn: 'asks a model',
};

function doing(effect: Effect): string {
  if (effect.type !== 'command') return [VERBS[effect.type] ?? effect.type, deedOf(effect)].join(' ');
  const { operation, path, collection } = effect.params;
  return [effect.command, operation ?? path ?? collection].filter((word) => typeof word === 'string').join(' ');
}
