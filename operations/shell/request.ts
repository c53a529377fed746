/** What a step asks to have started, and for whom. */
import type { Json } from '../../language/json.ts';
import type { Reach } from '../../language/rights/reach.ts';
import type { Confinement } from '../../language/permissions.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import type { SandboxRequest } from '../../world/confinement/sandbox.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { KeptProcesses } from '../../world/processes/kept/kept-processes.ts';
import { noSecrets, type Secrets } from '../secrets/secrets.ts';
import { quoteCommand } from './quote-command.ts';

export interface ShellRequest {
  /** A line for `/bin/sh -c`; with `args`, a program that no shell parses. */
  command: string;
  args?: string[];
  /** Relative to the folder that the step works in, and inside it. */
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
  timeoutMs: number;
  graceMs?: number;
  /** Bytes that each captured text keeps. */
  captureBytes?: number;
  /** False leaves the step's log alone, for a step of several processes: only one may write it. */
  isLogged?: boolean;
  /** Values too large for the environment: each becomes a file, and its variable with `_FILE` names it. */
  files?: { [name: string]: string };
  /** Its stdout as it comes, without secrets; from the beginning again where another worker goes on with the process. */
  hears?: (piece: Buffer) => void;
  /** What a sandbox shows the process beside the usual. */
  sandbox?: SandboxRequest;
  /** The process outlives its worker, where it can; one for each key. */
  isKept?: boolean;
  /** Where nobody knows what came of an earlier attempt: absent, it runs again; `tell`, the step fails with `SHELL_OUTCOME_UNKNOWN`. */
  onUnknown?: 'tell';
}

export interface ShellContext {
  run: RunContext;
  key: string;
  attempt: number;
  signal: AbortSignal;
  /** Before anything is started: throws `LeftBehind` where another attempt may have begun. */
  checkAttempt?: () => void;
  store: { logs: Pick<Store['logs'], 'append' | 'begun'> };
  heartbeat(details?: Json): void;
  now(): number;
  /** How the step's processes are held in; absent means not at all. */
  confinement?: Confinement;
  reach?: Reach;
  secrets?: Secrets;
  /** Absent: a process ends with its worker. */
  keeping?: Keeping;
  /** A segment has begun it, and left it to this attempt. */
  isHandedOver?: boolean;
}

/** Of a step whose process outlives its worker. */
export interface Keeping {
  processes: KeptProcesses;
  /** Whether a step that is aborted has to end its process; another attempt goes on with it otherwise. */
  ends(): boolean;
  /** As that of a request, for whoever does not make the request. */
  onUnknown?: 'tell';
}

/** Masked before it is cut: half of a value is found by nobody. */
export const quoted = ({ command }: ShellRequest, { secrets }: ShellContext): string =>
  quoteCommand((secrets ?? noSecrets()).results.text(command));

export const notStarted = (cause: unknown, request: ShellRequest, context: ShellContext): Failure =>
  new Failure(
    'SHELL_NOT_STARTED',
    `"${quoted(request, context)}" could not be started (${cause instanceof Error ? cause.message : 'for no stated reason'}); check the program's name, PATH and permissions`,
    { cause },
  );
