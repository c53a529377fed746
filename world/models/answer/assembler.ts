/**
 * An answer, put together from what a provider streams, and what it means. The rules are the same for
 * every provider:
 *
 * - the blocks stand in the order in which they began;
 * - whether calls follow is decided by the calls, never by the reason that the provider gives;
 * - of an answer that was cut at a limit no call is kept: none may run. Arguments that break off without one are
 *   arguments that nobody can read, as is a call that names nothing: the model is told;
 * - a reply comes only of `finish`: what broke off is an estimate of what was spent, and nothing else.
 */
import type { AnswerBlock, ToolCallBlock } from '../port/message.ts';
import { TurnError } from '../port/turn-failure.ts';
import type { Delta, StopReason, TurnReply, TurnRequest } from '../port/turn.ts';
import type { TokenUsage } from '../../../language/models/token-usage.ts';
import { estimateBlocks, estimateLength, estimateRequest } from '../request/estimate.ts';
import type { WireNames } from '../request/wire-names.ts';
import { isDeep } from '../../../language/expression/json-text.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { turnCallsMax, valueDepthMax } from '../../../language/limits.ts';
import { defined } from '../../../language/defined.ts';
import { readArguments, readInput } from './json-arguments.ts';
import { readUsage, type SaidUsage } from './usage.ts';

interface CallDraft {
  type: 'call';
  index: number;
  id: string;
  name: string;
  text: string;
  /** The arguments, where they came as a value. */
  given?: unknown;
  beside?: JsonObject;
}

type Draft = Exclude<AnswerBlock, ToolCallBlock> | CallDraft;

/** As it stands on the wire, where any field may be anything. */
export interface CallPart {
  id?: unknown;
  /** As far as it has come. */
  name?: unknown;
  /** A further piece of the arguments, or all of them as a value. */
  arguments?: unknown;
  /** What goes back with the call. */
  beside?: JsonObject;
}

export interface Ending {
  /** As the provider says it, in our words. */
  reason: StopReason;
  /** As it counts; null: it did not say. */
  usage: SaidUsage | null;
  model: string;
  requestId: string | null;
}

export interface AssemblerParts {
  request: TurnRequest;
  names: WireNames;
  answerBytesMax: number;
  onDelta?: ((delta: Delta) => void) | undefined;
}

/** Of an id or a name that a provider gives: what is longer is none. */
const wordLengthMax = 512;

export class Assembler {
  readonly #parts: AssemblerParts;
  /** By what the provider calls a block: an index, or a word where it has one of a kind. */
  readonly #drafts = new Map<string, Draft>();
  #length = 0;
  #calls = 0;
  #isHeard = false;
  #counted: SaidUsage | null = null;

  constructor(parts: AssemblerParts) {
    this.#parts = parts;
  }

  text(key: string, text: string): void {
    this.#append(key, 'text', text);
  }

  thinking(key: string, text: string): void {
    this.#append(key, 'thinking', text);
  }

  /** What proves the thought; it stands for it, so that a thought without a text is kept too. */
  signature(key: string, signature: string): void {
    const draft = this.#open(key, 'thinking');
    draft.signature = (draft.signature ?? '') + signature;
  }

  redacted(key: string, data: string): void {
    this.#count(data);
    this.#drafts.set(key, { type: 'redacted-thinking', data });
  }

  opaque(key: string, data: Json): void {
    const text = JSON.stringify(data);
    this.#count(text);
    if (isDeep(text)) throw malformed(`holds a block that is nested more than ${valueDepthMax} deep`);
    this.#drafts.set(key, { type: 'opaque', data });
  }

  call(key: string, part: CallPart): void {
    const found = this.#drafts.get(key);
    const draft: CallDraft =
      found?.type === 'call' ? found : { type: 'call', index: this.#calls, id: '', name: '', text: '' };
    if (found !== draft) {
      this.#calls += 1;
      if (this.#calls > turnCallsMax)
        throw malformed(`makes more than ${turnCallsMax} calls, which one turn does not perform`);
      this.#drafts.set(key, draft);
    }
    if (draft.id === '') draft.id = wordIn(part.id);
    // A name may come in pieces, each of them with those before.
    draft.name = wordIn(part.name) || draft.name;
    if (part.beside !== undefined) this.#keepBeside(draft, part.beside);
    const given = part.arguments ?? '';
    const piece = typeof given === 'string' ? given : JSON.stringify(given);
    this.#count(piece);
    if (typeof given === 'string') draft.text += given;
    else draft.given = given;
    this.#tell({ type: 'tool-call', call: draft.index, name: this.#parts.names.ours(draft.name), arguments: piece });
  }

  #keepBeside(draft: CallDraft, beside: JsonObject): void {
    const text = JSON.stringify(beside);
    this.#count(text);
    if (isDeep(text)) throw malformed(`holds a call that is nested more than ${valueDepthMax} deep`);
    draft.beside = { ...draft.beside, ...beside };
  }

  /** True while there is neither a text nor a call. */
  get isSilent(): boolean {
    return ![...this.#drafts.values()].some(
      (draft) =>
        draft.type === 'call' || draft.type === 'opaque' || (draft.type === 'text' && draft.text.trim() !== ''),
    );
  }

  /** A piece of the answer came, with what the provider counts so far; null where it says nothing of that. */
  heard(counted: SaidUsage | null): void {
    this.#isHeard = true;
    if (counted !== null) this.#counted = counted;
  }

  /** What an answer that broke off has cost, about; undefined where nothing came. */
  spent(): TokenUsage | undefined {
    if (this.#drafts.size === 0 && !this.#isHeard) return undefined;
    const estimated = this.estimate();
    const read = readUsage(this.#counted);
    if (read.state !== 'counted') return estimated;
    const { input, cacheRead, cacheWrite, output } = read.counts;
    const isSentCounted = input + cacheRead + cacheWrite > 0;
    return {
      ...estimated,
      ...(isSentCounted ? { input, cacheRead, cacheWrite } : {}),
      output: Math.max(estimated.output, output),
    };
  }

  finish({ reason, usage, model, requestId }: Ending): Omit<TurnReply, 'author' | 'omitted'> {
    const { blocks, isCut } = this.#blocks();
    const read = readUsage(usage);
    const { maxTokens } = this.#parts.request;
    const isSpent = maxTokens !== undefined && read.state === 'counted' && read.counts.output >= maxTokens;
    // Some servers give calls as the reason where the limit is.
    const stopReason = stopReasonOf(isCut && isSpent ? 'max-tokens' : reason, blocks);
    const mayRun = stopReason === 'tool-calls' || stopReason === 'pause';
    return {
      blocks: mayRun ? blocks : blocks.filter(({ type }) => type !== 'tool-call'),
      stopReason,
      usage: read.state === 'counted' ? { ...read.counts, estimated: false } : this.estimate(),
      ...(read.state === 'unusable' ? { isMiscounted: true } : {}),
      model: wordIn(model),
      requestId,
    };
  }

  #append(key: string, type: 'text' | 'thinking', text: string): void {
    // The types are the SDK's, and the values the server's.
    if (typeof text !== 'string') throw malformed('holds a text that is none');
    if (text === '') {
      this.#open(key, type);
      return;
    }
    this.#open(key, type).text += text;
    this.#count(text);
    this.#tell({ type, text });
  }

  #open<Type extends 'text' | 'thinking'>(key: string, type: Type): Extract<Draft, { type: Type }> {
    const found = this.#drafts.get(key);
    if (found?.type === type) return found as Extract<Draft, { type: Type }>;
    const draft = { type, text: '' } as Extract<Draft, { type: Type }>;
    this.#drafts.set(key, draft);
    return draft;
  }

  #count(text: string): void {
    this.#length += text.length;
    const { answerBytesMax } = this.#parts;
    if (this.#length > answerBytesMax)
      throw new TurnError(
        { kind: 'answer-too-large', bytesMax: answerBytesMax },
        `the answer has more than ${answerBytesMax} bytes, so it was stopped; ask for less, or set "maxTokens"`,
      );
  }

  #tell(delta: Delta): void {
    this.#parts.onDelta?.(delta);
  }

  #blocks(): { blocks: AnswerBlock[]; isCut: boolean } {
    let isCut = false;
    const ids = new Set<string>();
    const blocks = [...this.#drafts.values()].flatMap((draft): AnswerBlock[] => {
      if (draft.type !== 'call') return [draft];
      const read = draft.given === undefined ? readArguments(draft.text) : readInput(draft.given);
      isCut ||= read.state === 'cut';
      const id = draft.id !== '' && !ids.has(draft.id) ? draft.id : freeId(`call_${draft.index}`, ids);
      ids.add(id);
      const name = this.#parts.names.ours(draft.name);
      const call = {
        type: 'tool-call',
        id,
        name,
        ...defined({ beside: draft.beside }),
      } as const;
      return [read.state === 'read' ? { ...call, input: read.input } : { ...call, input: {}, invalid: read.text }];
    });
    return { blocks: blocks.filter((block) => block.type !== 'text' || block.text !== ''), isCut };
  }

  /** About what was sent, and what came so far. */
  estimate(): TokenUsage {
    const { blocks } = this.#blocks();
    const input = estimateRequest(this.#parts.request);
    // Of what was cut no block holds all.
    const output = Math.max(estimateBlocks(blocks), estimateLength(this.#length));
    return { input, output, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: true };
  }
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  for (let id = wanted, count = 2; ; id = `${wanted}_${count}`, count += 1) if (!taken.has(id)) return id;
}

const wordIn = (value: unknown): string => (typeof value === 'string' && value.length <= wordLengthMax ? value : '');

function stopReasonOf(reason: StopReason, blocks: readonly AnswerBlock[]): StopReason {
  if (reason === 'max-tokens' || reason === 'window-full' || reason === 'refusal') return reason;
  if (reason === 'pause') return reason;
  if (blocks.some(({ type }) => type === 'tool-call')) return 'tool-calls';
  if (reason !== 'tool-calls') return reason;
  throw malformed('says that it calls tools, and there is no call in it');
}

const malformed = (finding: string): TurnError =>
  new TurnError({ kind: 'malformed-answer' }, `the answer ${finding}; try again, or choose another model`);
