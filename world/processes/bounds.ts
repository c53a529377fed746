import { outputBytesMax } from '../../language/limits.ts';

/** Every bound of a shell step, in one place; what each costs is said beside it. */
const KIB = 1024;
const MIB = 1024 * KIB;

export const SHELL_BOUNDS = {
  /** `stdout`, `stderr` and `output` of a result: half from the start, half from the end. */
  captureBytes: outputBytesMax,
  /** Largest `captureBytes` a command of ours may ask for (a diff, say). */
  captureBytesMax: 4 * MIB,
  /** End of each stream that a timeout's failure carries. */
  failureTailBytes: 4 * KIB,

  /** Start of each stream that the log keeps, written as it comes. */
  logHeadBytes: 1 * MIB,
  /** End of each stream that the log keeps; one chunk, rewritten while the stream goes on. */
  logTailBytes: 1 * MIB,
  logChunkBytes: 64 * KIB,
  logFlushMs: 100,
  logTailMs: 2_000,
  logRetryMs: 100,
  logRetryMsMax: 5_000,
  /** How long a step that has ended waits for a store that does not answer before its log is given up. */
  logGiveUpMs: 90_000,
  /** The same for a step that was cancelled or timed out. */
  logGiveUpCancelledMs: 1_000,

  /** Characters of one line that a watch sees. */
  lineLengthMax: 1_000,
  /** How often new lines of a background process are written. */
  linesFlushMs: 50,
  linesBatch: 500,
  /** Lines that wait for the store; of more the first and the latest are kept. */
  linesPendingMax: 50_000,
  /** What the lines of a watch's result take together, as JSON. */
  watchBytesMax: 1 * MIB,

  /** How often a worker says that it holds its background processes, and looks for lost ones. */
  keepMs: 5_000,
  /** How long a worker of another host must be silent before its processes count as lost. */
  silentMsMax: 60_000,
  /** How often Temporal is asked whether a run with background processes still goes on. */
  askRunMs: 30_000,
  /** How long a started process may take to serve a port that is asked for. */
  portWaitMs: 30_000,

  /** How long a cancellation may take to reach a step: it comes back with what says that the step is alive. */
  heartbeatMs: 500,
  /** From SIGTERM to SIGKILL. */
  graceMs: 5_000,
  /** How long the init of a step has to end what is below it before it is killed itself. */
  initMs: 2_000,
  /** From SIGKILL until a process that is still there is reported. */
  killWaitMs: 5_000,
  /** What a step's process left running when it ended may go on for so long before it is ended, too. */
  leftoverMs: 100,
  /** How long the id of a process that has ended is surely not given to another. */
  idsReusedMs: 10_000,
  /** How long pipes are read on after the main process has ended. */
  drainMs: 1_000,
  timeoutMsMax: 2 ** 31 - 1,

  /** How long after a step's own time the keeper of its process ends it, where no worker has. */
  keeperLateMs: 1_000,
  /** What a process may have written that no worker has read; then it is held, as a full pipe would hold it. */
  unreadBytesMax: 256 * MIB,
  /** Start and end of a stream that stay on disk, as its keeper has it (`8 << 20`); what lies between is given back once it was read. */
  keptEdgeBytes: 8 * MIB,

  /** One argument or one variable: Linux allows 128 KiB. */
  argumentBytesMax: 100 * KIB,
  /** All arguments and variables together: macOS allows 1 MiB. */
  argumentsBytesMax: 960 * KIB,
} as const;

/** What a shell step may take beyond its own timeout: ending the processes and writing the log. */
export const SHELL_OVERTIME_MS =
  SHELL_BOUNDS.graceMs + SHELL_BOUNDS.killWaitMs + SHELL_BOUNDS.drainMs + SHELL_BOUNDS.logGiveUpMs;
