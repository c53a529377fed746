/**
 * The `fetch` that a provider's SDK is given for one call. The SDKs have no limit on silence, time or
 * size, take HTML for an empty stream, and end without an error where a connection is cut; so all of that
 * is decided here, below them. The first finding wins, whatever an SDK then makes of the broken stream.
 */
import { fetchOutward, ProxyFault } from '../../http/outward.ts';
import { UnusableProxy } from '../../http/proxy.ts';
import { fetchFromServer, RedirectedAway } from '../../http/same-server.ts';
import { isJsonObject, type JsonObject } from '../../../language/json.ts';
import { TurnError, type Finding } from '../port/turn-failure.ts';
import type { TurnLimits } from '../port/turn.ts';
import { excerpt, refusalOf, type Refusal } from './refusal.ts';
import { played, Recording, type Tape } from './tape.ts';
import { asEvents, asLines, bytesIn, inOnePiece, isPage, isWithoutAnswer, mayBeWhole } from './whole-answer.ts';

const REFUSAL_BYTES_MAX = 64 * 1024;
const LINE_BYTES_MAX = 5 * 1024 * 1024;

export interface GuardParts {
  /** Of the provider, for messages. */
  name: string;
  signal: AbortSignal;
  limits: TurnLimits;
  /** What the answer has to be; lines of JSON are also checked one by one. */
  expects: 'events' | 'lines' | 'json';
  /** The events of an answer that came whole, as they would have been streamed; null where it is none. */
  eventsOf?: (answer: JsonObject) => JsonObject[] | null;
  tape?: Tape | undefined;
}

export class Guard {
  readonly #parts: GuardParts;
  readonly #abort = new AbortController();
  readonly #wall: NodeJS.Timeout;
  /** Why the call broke, if this is where it broke. */
  finding: TurnError | null = null;
  /** What the server answered, where it refused. */
  refusal: Refusal | null = null;
  requestId: string | null = null;
  #recording: Recording | null = null;
  /** Something of an answer came: it is paid for, whatever becomes of it. */
  isAnswered = false;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    const { signal, limits } = parts;
    this.#wall = setTimeout(() => this.#timeOut('wall', limits.wallMs), limits.wallMs);
    if (signal.aborted) this.#abort.abort();
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  readonly #stop = (): void => this.#abort.abort();

  /** Resolves when what came is kept: whoever reads an answer calls it before they make anything of it. */
  async keep(): Promise<void> {
    await this.#recording?.keep();
  }

  /** Lets go of the connection, if there still is one. */
  close(): void {
    clearTimeout(this.#wall);
    this.#parts.signal.removeEventListener('abort', this.#stop);
    this.#abort.abort();
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { limits } = this.#parts;
    const timer = setTimeout(() => this.#timeOut('headers', limits.headersMs), limits.headersMs);
    const address = input instanceof Request ? input.url : String(input);
    try {
      const { tape } = this.#parts;
      const kept = tape?.kept ?? null;
      const response =
        kept === null
          ? await fetchFromServer(fetchOutward, address, { ...init, signal: this.#abort.signal })
          : await played(kept);
      this.requestId = response.headers.get('request-id') ?? response.headers.get('x-request-id');
      if (!response.ok || isWithoutAnswer(response) || isPage(response)) throw await this.#refused(response);
      clearTimeout(timer);
      if (mayBeWhole(this.#parts.expects, response)) return await this.#whole(response);
      const lines = this.#parts.expects === 'lines' ? watchLines((line) => this.#brokenLine(line)) : null;
      if (tape !== undefined && kept === null) this.#recording = new Recording(tape, response);
      return new Response(this.#guarded(response, lines, this.#recording), {
        status: response.status,
        headers: response.headers,
      });
    } catch (error) {
      throw this.#found(error, address);
    } finally {
      clearTimeout(timer);
    }
  };

  /** An answer in one piece, where pieces were asked for, is an answer: it is read as if it had been streamed. */
  async #whole(response: Response): Promise<Response> {
    const { expects, eventsOf, limits } = this.#parts;
    const { status, headers } = response;
    const room = { wire: limits.wireBytesMax, line: Number.POSITIVE_INFINITY };
    const bytes = await bytesIn(this.#guarded(response, null, null, room));
    const text = bytes.toString('utf8');
    const { body: answer } = refusalOf(status, headers, text);
    // A stream under another label.
    if (!text.trimStart().startsWith('{') || (expects === 'lines' && !isJsonObject(answer)))
      return this.#replayed(bytes, bytes, response);
    if (isJsonObject(answer) && Object.hasOwn(answer, 'error')) throw this.#refusedIn(refusalOf(status, headers, text));
    const events = isJsonObject(answer) ? (eventsOf?.(answer) ?? null) : null;
    if (events === null) throw this.#isNoStream(headers, text);
    return this.#replayed(bytes, expects === 'lines' ? asLines(events) : asEvents(events), response);
  }

  /** `bytes`: what is kept. `text`: what is read. */
  #replayed(bytes: Buffer, text: Buffer | string, { status, headers }: Response): Response {
    const { tape, expects } = this.#parts;
    if (expects === 'lines') watchLines((line) => this.#brokenLine(line))(Buffer.from(`${String(text)}\n`));
    if (tape !== undefined && tape.kept === null) {
      this.#recording = new Recording(tape, { status, headers });
      this.#recording.add(bytes);
    }
    return new Response(
      inOnePiece(text, () => this.keep()),
      { status, headers },
    );
  }

  #isNoStream(headers: Headers, text: string): TurnError {
    return new TurnError(
      { kind: 'malformed-answer' },
      `${this.#parts.name} answered ${headers.get('content-type') ?? 'something'} in place of a stream ("${excerpt(text)}"); is its address right?`,
    );
  }

  #refusedIn(refusal: Refusal): Error {
    this.refusal = refusal;
    return new Error(`${this.#parts.name} refused with status ${refusal.status}`);
  }

  async #refused(response: Response): Promise<Error> {
    const { status, headers } = response;
    const text = await readSome(this.#guarded(response, null));
    const refusal = refusalOf(status, headers, text);
    const isError = isJsonObject(refusal.body) && Object.hasOwn(refusal.body, 'error');
    if (response.ok && !isError)
      return isWithoutAnswer(response) ? this.#isEmpty(status) : this.#isNoStream(headers, text);
    if (status >= 300 && status < 400) return this.#leadsNowhere(status, text);
    return this.#refusedIn(refusal);
  }

  #isEmpty(status: number): TurnError {
    return new TurnError(
      { kind: 'malformed-answer' },
      `${this.#parts.name} answered with status ${status}, which has no answer in it; is its address right?`,
    );
  }

  #leadsNowhere(status: number, text: string): TurnError {
    const said = excerpt(text);
    return new TurnError(
      { kind: 'redirected' },
      `${this.#parts.name} answered with status ${status}, which sends on, and says to no address${said === '' ? '' : ` ("${said}")`}; is its address right?`,
      { status },
    );
  }

  /** The body, counted and watched. */
  #guarded(
    { body }: Response,
    watch: ((bytes: Uint8Array) => void) | null,
    recording: Recording | null = null,
    room = { wire: this.#parts.limits.wireBytesMax, line: LINE_BYTES_MAX },
  ): ReadableStream<Uint8Array> {
    const { limits } = this.#parts;
    if (body === null) return new Blob([]).stream();
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const timer = setTimeout(() => this.#timeOut('idle', limits.idleMs), limits.idleMs);
        try {
          const { done, value } = await reader.read();
          if (done) {
            clearTimeout(timer);
            await recording?.keep();
            controller.close();
            return;
          }
          this.#spend(room, value);
          this.isAnswered ||= this.refusal === null;
          recording?.add(value);
          watch?.(value);
          controller.enqueue(value);
        } catch (error) {
          controller.error(this.#found(error, ''));
          this.#abort.abort();
        } finally {
          clearTimeout(timer);
        }
      },
      cancel: () => this.#abort.abort(),
    });
  }

  /** A reader collects a line before it reads it, and is slower than linear in one that does not end. */
  #spend(room: { wire: number; line: number }, bytes: Uint8Array): void {
    const end = bytes.lastIndexOf(0x0a);
    room.wire -= bytes.byteLength;
    if (room.line !== Number.POSITIVE_INFINITY)
      room.line = end < 0 ? room.line - bytes.byteLength : LINE_BYTES_MAX - (bytes.byteLength - end - 1);
    if (room.wire < 0) throw this.#tooLarge(this.#parts.limits.wireBytesMax);
    if (room.line < 0) throw this.#tooLarge(LINE_BYTES_MAX);
  }

  #brokenLine(line: string): TurnError {
    return new TurnError(
      { kind: 'malformed-answer' },
      `${this.#parts.name} sent a line that is no JSON object ("${excerpt(line)}"); is its address right?`,
    );
  }

  #tooLarge(bytesMax: number): TurnError {
    return new TurnError(
      { kind: 'answer-too-large', bytesMax },
      `${this.#parts.name} sent more than ${bytesMax} bytes, so the answer was stopped; set "maxTokens"`,
    );
  }

  #timeOut(phase: 'headers' | 'idle' | 'wall', afterMs: number): void {
    const what = {
      headers: 'did not begin to answer',
      idle: 'stopped answering: nothing came',
      wall: 'did not end its answer',
    }[phase];
    this.finding ??= new TurnError(
      { kind: 'timeout', phase, afterMs },
      `${this.#parts.name} ${what} within ${afterMs} ms`,
    );
    this.#abort.abort();
  }

  /** What goes up through the SDK; it is kept, since the SDK may wrap or lose it. */
  #found(error: unknown, address: string): Error {
    if (this.finding !== null) return this.finding;
    const broken = error instanceof Error ? error : new Error(String(error));
    // Who reads the stream may have given it up: then why is not known here.
    if (this.refusal !== null || this.#abort.signal.aborted) return broken;
    this.finding = findingOf(this.#parts.name, broken, address);
    return this.finding;
  }
}

function findingOf(name: string, error: Error, address: string): TurnError {
  if (error instanceof TurnError) return error;
  if (error instanceof ProxyFault) return proxyError(name, error);
  if (error instanceof UnusableProxy)
    return new TurnError({ kind: 'auth', setting: error.variable }, `${name} cannot be asked: ${error.message}`);
  if (error instanceof RedirectedAway) return new TurnError({ kind: 'redirected' }, `${name}: ${error.message}`);
  return networkError(name, error, address);
}

/** What the proxy itself refuses, waiting does not cure. */
function proxyError(name: string, fault: ProxyFault): TurnError {
  const { status, variable, message } = fault;
  const isRefused = status !== null && status < 500 && status !== 408 && status !== 429;
  const finding: Finding = isRefused ? { kind: 'auth', setting: variable } : { kind: 'network' };
  return new TurnError(finding, `${name} cannot be reached ${message}`, { cause: fault });
}

function networkError(name: string, error: Error, address: string): TurnError {
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code ?? cause.message;
  const host = address === '' ? '' : ` at ${new URL(address).host}`;
  const remedy =
    address === '' ? 'the connection broke in the middle of the answer' : 'is it running, and is its address right?';
  return new TurnError({ kind: 'network' }, `${name}${host} cannot be reached (${code}): ${remedy}`, { cause: error });
}

async function readSome(body: ReadableStream<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes > REFUSAL_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Checks a stream of JSON lines beside its reader, which only logs a line that it cannot read. */
function watchLines(broken: (line: string) => TurnError): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest = '';
  return (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '' && !isObject(line)) throw broken(line);
  };
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
