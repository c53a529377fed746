/** What a worker and a process that performs commands of its project tell each other. */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json } from '../../language/json.ts';
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
}

/** `aborted`: why the call under way is to end. */
export type ToProcess = { load: KeptCode } | { call: OwnCall } | { aborted: string };

export type Outcome =
  /** The result is JSON text. */
  | { ok: true; text: string }
  /** `trace`: where its code threw, for the step's log. */
  | { ok: false; failure: Pick<FailureInfo, 'code' | 'message' | 'details'>; trace?: string };

/** `isFree`: nothing of the call goes on. */
export type FromProcess = { ready: true } | { refused: string } | { outcome: Outcome; isFree: boolean };
