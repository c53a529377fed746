/**
 * What a step would be answered, without asking the world: scripted replies first; then files of the
 * project are read, writes go to the overlay, records are kept for as long as the simulation lasts,
 * and a command line is taken to succeed without a word.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Edit } from '../../world/editing/apply-edits.ts';
import { editFile } from '../../world/editing/edit-file.ts';
import { type Access, accessOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
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

  constructor(source: ScriptSource, overlay: Overlay, stepsMax: number) {
    super(source);
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
    const { path, content } = params;
    const access = accessOf(asking);
    switch (command) {
      case 'code/read': {
        const bytes = this.#overlay.read(textOf(path), access);
        const encoding = params['encoding'] === 'base64' ? 'base64' : 'utf8';
        return {
          ...known({ path: textOf(path), content: bytes.toString(encoding), bytes: bytes.length }),
          text: `reads ${textOf(path)} (${bytes.length} bytes)`,
        };
      }
      case 'code/write': {
        const { bytes, changed, isNew } = this.#overlay.write(textOf(path), textOf(content), access);
        const deed = isNew ? 'creates' : changed ? 'changes' : 'leaves as it is:';
        return { ...known({ path: textOf(path), bytes, changed }), text: `${deed} ${textOf(path)} (${bytes} bytes)` };
      }
      case 'code/edit': {
        const before = this.#overlay.read(textOf(path), access);
        const { after, result } = editFile(before, editsIn(params), textOf(path));
        this.#overlay.write(textOf(path), after, access);
        return { ...known(result), text: `edits ${textOf(path)} from line ${result.firstLine}` };
      }
      case 'code/git':
        return this.#git(params, access);
      case 'code/undo':
        return {
          ...known(NOTHING_UNDONE),
          text: `takes back what the run changed${typeof params['key'] === 'string' ? ` from ${params['key']} on` : ''}`,
          source: 'assumed',
        };
      case 'data/create':
      case 'data/list':
      case 'data/read':
      case 'data/update':
      case 'data/delete':
        return { ...this.#data(command, params), source: 'assumed' };
      case 'health-check':
        return { ...known({ status: 'healthy' }), text: 'asks how the services are', source: 'assumed' };
      default:
        return supposed(command, params);
    }
  }

  #git({ operation, paths = [] }: JsonObject, access: Access): Predicted {
    for (const one of Array.isArray(paths) ? paths : [paths]) this.#overlay.check(textOf(one), access);
    return {
      text: `git ${textOf(operation)}`,
      source: 'assumed',
      reply: { ok: true, value: { success: true, exitCode: 0, stdout: '', stderr: '', output: '' } },
    };
  }

  #keep(collection: string, { data, id }: JsonObject): JsonObject {
    const record = {
      id: id ?? `simulated-${this.#records.length + 1}`,
      collection,
      createdAt: 0,
      ...(isJsonObject(data) ? data : {}),
    };
    this.#records.push(record);
    return record;
  }

  #data(command: `data/${string}`, params: JsonObject): Omit<Predicted, 'source'> {
    const collection = textOf(params['collection']);
    switch (command) {
      case 'data/create':
        return { ...known(this.#keep(collection, params)), text: `creates a record in ${collection}` };
      case 'data/list':
        return { ...known(this.#kept(params)), text: `lists ${collection} as this simulation left it` };
      case 'data/update':
        return { ...known(this.#update(params)), text: `changes records in ${collection}` };
      case 'data/delete':
        return { ...known({ deleted: this.#remove(params) }), text: `deletes records in ${collection}` };
      default:
        return { ...known(this.#kept(params)[0] ?? null), text: `reads ${collection} as this simulation left it` };
    }
  }

  #update(params: JsonObject): JsonObject[] {
    const found = this.#kept(params);
    for (const record of found) Object.assign(record, isJsonObject(params['data']) ? params['data'] : {});
    return found;
  }

  #remove(params: JsonObject): number {
    const found = new Set(this.#kept(params));
    const left = this.#records.filter((record) => !found.has(record));
    this.#records.splice(0, this.#records.length, ...left);
    return found.size;
  }

  /** Only equality is looked at: what operators would find is for `--replies` to say. */
  #kept({ collection, filter, id }: JsonObject): JsonObject[] {
    const wanted = Object.entries({
      ...(isJsonObject(filter) ? filter : {}),
      ...(id === undefined ? {} : { id }),
    }).filter(([, value]) => !isJsonObject(value));
    return this.#records.filter(
      (record) =>
        record['collection'] === collection &&
        wanted.every(([field, value]) => isDeepStrictEqual(record[field], value)),
    );
  }
}

const NOTHING_UNDONE = { files: [], conflicts: [], left: [], gaps: [] };

/** Of what would reach further than the project's files and records. */
function supposed(command: string, params: JsonObject): Predicted {
  const room = textOf(params['room'] ?? 'general');
  switch (command) {
    case 'ai/generate':
    case 'ai/should-respond':
      return { text: 'asks a model', source: 'assumed' };
    case 'rag/build':
      return { ...known(NOTHING_COLLECTED), text: 'collects what models are told', source: 'assumed' };
    case 'code/verify':
      return { ...known(NOTHING_FAILED), text: 'runs the checks of the project', source: 'assumed' };
    case 'collaboration/chat/send': {
      const said = {
        room,
        author: 'the simulation',
        message: textOf(params['message']),
        event: `chat:${room}:message`,
      };
      return { ...known(said), text: `says something in ${room}`, source: 'assumed' };
    }
    case 'screenshot':
      return { text: `takes a picture of ${textOf(params['url'])}`, source: 'assumed' };
    default:
      return { text: command, source: 'assumed' };
  }
}

const editIn = (edit: JsonObject): Edit => ({
  old: textOf(edit['old']),
  new: textOf(edit['new']),
  all: edit['all'] === true,
});

const editsIn = (params: JsonObject): Edit[] =>
  Array.isArray(params['edits']) ? params['edits'].filter(isJsonObject).map(editIn) : [editIn(params)];

/** As a command line, they are taken to succeed. */
const NOTHING_FAILED = { success: true, checks: [], failures: [], skipped: [], output: '' };
const NOTHING_COLLECTED = { text: '', tokens: 0, sources: [], leftOut: [] };

const known = (value: Json): Omit<Predicted, 'text'> => ({ source: 'project', reply: { ok: true, value } });

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

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
