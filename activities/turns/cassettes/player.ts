/**
 * Answers the turns of a replay from its cassette: no model is asked, and none is looked for. Which entry a
 * request gets is kept under the key of its turn before it is given, so that whoever takes the turn again
 * after a crash gets the same one.
 */
import type { JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import type { RunContext } from '../../../prisma/store/contract/contract.ts';
import type { Cassettes, RequestOf } from '../../../prisma/store/contract/models/cassette-contract.ts';
import { Failure } from '../../../world/failures/failures.ts';
import type { Cassette, CassetteEntry } from '../../../world/models/cassette/cassette.ts';
import { nearestTo } from '../../../world/models/cassette/nearest.ts';
import { Placeholders } from '../../../world/models/cassette/placeholders.ts';
import { placeOf } from '../../../world/models/cassette/record-cassette.ts';
import { digestOf, formOf, type RequestHead } from '../../../world/models/cassette/request-form.ts';
import { TurnError } from '../../../world/models/port/turn-failure.ts';
import type { AnswerBlock } from '../../../world/models/port/message.ts';
import type { Delta, TurnOptions, TurnResult } from '../../../world/models/port/turn.ts';
import type { Answerers, ModelRequest } from './answering.ts';

export interface Replay {
  root: string;
  cassette: Cassette;
}

export interface PlayerPlace extends RequestOf {
  run: Pick<RunContext, 'project'>;
}

export class Player implements Answerers {
  readonly #cassettes: Pick<Cassettes, 'claim'>;
  readonly #replay: Replay;
  readonly #place: PlayerPlace;
  /** Requests of this turn so far: a summary is one, too. */
  #count = 0;

  constructor(cassettes: Pick<Cassettes, 'claim'>, replay: Replay, place: PlayerPlace) {
    this.#cassettes = cassettes;
    this.#replay = replay;
    this.#place = place;
  }

  async find(...[asked, needs]: Parameters<Answerers['find']>): ReturnType<Answerers['find']> {
    const { entries } = this.#replay.cassette;
    const { messages, ...settings } = needs;
    const lost = await this.#take({ asked, model: null, settings }, messages, ({ model }) => model === null);
    if (lost !== null && 'failure' in lost.outcome) {
      const { message, status, requestId, ...finding } = lost.outcome.failure;
      throw new TurnError(finding, message, defined({ status, requestId }));
    }
    const at = this.#at();
    const text = new Placeholders(this.#names()).request(asked);
    const same = entries.filter(({ request, model }) => request.model === text && model !== null);
    const model = (same.find((entry) => isAt(entry, at)) ?? same[0])?.model ?? null;
    if (model === null) throw this.#miss({ asked, model: null, settings }, messages);
    return { model, turn: (request, options) => this.#turn({ asked, model, settings: {} }, request, options) };
  }

  async #turn(
    { asked, model }: RequestHead,
    request: ModelRequest,
    { signal, onDelta }: TurnOptions,
  ): Promise<TurnResult> {
    const { messages, cache: _cache, ...settings } = request;
    const head: RequestHead = { asked, model, settings };
    const entry = await this.#take(head, messages, ({ model: one }) => one !== null);
    signal.throwIfAborted();
    if (entry === null) throw this.#miss(head, messages);
    const { outcome } = entry;
    if ('failure' in outcome) return { ok: false, failure: outcome.failure };
    for (const delta of deltasOf(outcome.reply.blocks)) onDelta?.(delta);
    return { ok: true, reply: outcome.reply };
  }

  /** The entry of this request with what this run has in the place of the recorded one's; null where none is left. */
  async #take(
    head: RequestHead,
    messages: ModelRequest['messages'],
    isMeant: (entry: CassetteEntry) => boolean,
  ): Promise<CassetteEntry | null> {
    const placeholders = new Placeholders(this.#names());
    const digest = digestOf(placeholders.request(formOf(head, messages as unknown as JsonObject[])));
    const at = this.#at();
    const { entries } = this.#replay.cassette;
    const same = entries.flatMap((entry, index) => (entry.digest === digest && isMeant(entry) ? [index] : []));
    if (same.length === 0) return null;
    const here = same.filter((index) => isAt(entries[index], at));
    const { handle, conversation, turn, asker } = this.#place;
    const claimant = [handle, conversation, turn, asker, this.#count].join(' ');
    this.#count += 1;
    const order = [...here, ...same.filter((index) => !here.includes(index))];
    const index = await this.#cassettes.claim(this.#replay.root, claimant, order);
    const entry = index === null ? undefined : entries[index];
    return entry === undefined ? null : { ...entry, outcome: placeholders.filled(entry.outcome) };
  }

  #names(): { project: string; root: string } {
    return { project: this.#place.run.project, root: this.#replay.root };
  }

  #at(): CassetteEntry['at'] {
    return placeOf(this.#replay.root, this.#place);
  }

  #miss(head: RequestHead, messages: ModelRequest['messages']): Failure {
    const form = new Placeholders(this.#names()).request(formOf(head, messages as unknown as JsonObject[]));
    const digest = digestOf(form);
    const { entries } = this.#replay.cassette;
    const at = this.#at();
    const where = `turn ${at.turn} of ${[at.run, at.key].filter(Boolean).join('/')}`;
    const times = entries.filter((entry) => entry.digest === digest).length;
    const remedy = 'record the run again with --record, or replay it as it was recorded';
    if (times > 0)
      return new Failure(
        'CASSETTE_MISS',
        `the cassette holds this request of ${where} ${times === 1 ? 'once' : `${times} times`}, and it is asked once more; ${remedy}`,
        { details: { digest } },
      );
    const nearest = nearestTo(form, at, entries);
    if (nearest === null)
      return new Failure('CASSETTE_MISS', `the cassette holds no request at all; ${remedy}`, { details: { digest } });
    const { index, entry, difference } = nearest;
    const found = `turn ${entry.at.turn} of ${[entry.at.run, entry.at.key].filter(Boolean).join('/')}`;
    return new Failure(
      'CASSETTE_MISS',
      `the cassette does not hold this request of ${where}; ${remedy}. The nearest is requests[${index}], ${found} (- recorded, + asked now):\n${difference.join('\n')}`,
      { details: { digest, nearest: index } },
    );
  }
}

/** What a model would have said on the way to this answer, a block at a time. */
function deltasOf(blocks: readonly AnswerBlock[]): Delta[] {
  let calls = 0;
  return blocks.flatMap((block): Delta[] => {
    if (block.type === 'text' || block.type === 'thinking') return [{ type: block.type, text: block.text }];
    if (block.type !== 'tool-call') return [];
    const { name, input, invalid = JSON.stringify(input) } = block;
    return [{ type: 'tool-call', call: calls++, name, arguments: invalid }];
  });
}

const isAt = (entry: CassetteEntry | undefined, { run, key, turn }: CassetteEntry['at']): boolean =>
  entry?.at.run === run && entry.at.key === key && entry.at.turn === turn;
