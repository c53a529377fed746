/** The bytes of an answer as they come: kept before whoever reads them is told that they are all, or played again. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { RawAnswer } from '../../../prisma/store/contract/models/raw-answer-contract.ts';

export interface Tape {
  /** An answer to the same request that came before; the provider is not asked. */
  readonly kept: RawAnswer | null;
  /** Resolves when it is stored and charged. */
  keep(answer: RawAnswer): Promise<void>;
}

/** More is not kept: whoever is lost while reading it asks again. */
const keptBytesMax = 16 * 1024 * 1024;
/** What was encoded on the way was decoded before it is kept. */
const KEPT_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
]);
const [compressed, expanded] = [promisify(gzip), promisify(gunzip)];

export class Recording {
  readonly #tape: Tape;
  readonly #head: Pick<Response, 'status' | 'headers'>;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  #keeping: Promise<void> | undefined;

  constructor(tape: Tape, head: Pick<Response, 'status' | 'headers'>) {
    this.#tape = tape;
    this.#head = head;
  }

  add(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    if (this.#bytes <= keptBytesMax) this.#pieces.push(bytes);
    else this.#pieces.length = 0;
  }

  /** Once, whoever finds first that the answer is whole. What cannot be kept is read all the same: it is paid for. */
  keep(): Promise<void> {
    this.#keeping ??= this.#keep().catch(() => undefined);
    return this.#keeping;
  }

  async #keep(): Promise<void> {
    if (this.#bytes > keptBytesMax) return;
    const { status, headers } = this.#head;
    const body = await compressed(Buffer.concat(this.#pieces), { level: 1 });
    await this.#tape.keep({ status, headers: [...headers].filter(([name]) => KEPT_HEADERS.has(name)), body });
  }
}

export async function played({ status, headers, body }: RawAnswer): Promise<Response> {
  return new Response(await expanded(body, { maxOutputLength: keptBytesMax }), { status, headers });
}
