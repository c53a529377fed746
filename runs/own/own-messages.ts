/** What a worker and a process that performs commands of its project tell each other. */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import type { Caller } from '../../operations/caller.ts';
import type { LeaseTerms } from '../../operations/lease-terms.ts';
import type { WordCommands } from '../../operations/words.ts';
import type { CodeFile } from '../../services/trust/project-code.ts';

export interface KeptCode {
  path: string;
  digest: string;
  files: [path: string, file: CodeFile][];
}

export interface OwnCall {
  name: string;
  params: Json;
  project: string;
  key: string;
  attempt: number;
  caller: Caller;
  resumed: Json;
  /** The command behind each word of its context. */
  words: WordCommands;
  /** Codes that commands of ours state. */
  reserved: readonly string[];
}

type Said = Pick<FailureInfo, 'code' | 'message' | 'details'>;

/** What a command asks of its worker while it is performed. */
export type Asked =
  | { what: 'query'; sql: string; values: Json[] }
  | { what: 'publish'; event: string; data: Json }
  /** `call`: by which it is aborted. */
  | { what: 'call'; command: string; params: JsonObject; call: number }
  | { what: 'abort'; call: number }
  | { what: 'heartbeat'; details: Json }
  /** Answered with a number, by which it is left. */
  | { what: 'lease'; name: string; terms: LeaseTerms }
  | { what: 'leave'; lease: number };

export type Reply = { id: number } & ({ ok: true; value: Json } | { ok: false; failure: Said });

/** `aborted`: why the call under way is to end. */
export type ToProcess = { load: KeptCode } | { call: OwnCall } | { aborted: string } | { reply: Reply };

export type Outcome =
  /** The result is JSON text. */
  | { ok: true; text: string }
  /** `trace`: where its code threw, for the step's log. */
  | { ok: false; failure: Said; trace?: string };

/** `isFree`: nothing of the call goes on. */
export type FromProcess =
  { ready: true } | { refused: string } | { asked: Asked; id: number } | { outcome: Outcome; isFree: boolean };
