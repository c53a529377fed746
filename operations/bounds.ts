/** Bounds of commands, in one place. */
const KIB = 1024;
const MIB = 1024 * KIB;

export const COMMAND_BOUNDS = {
  /** Largest result of a command, as JSON, and largest file that is read or written at once. */
  valueBytesMax: 8 * MIB,
  /** Largest file that is read without leaving the thread. */
  blockingBytes: 64 * KIB,
  /** Length of a record list, a run list, a log slice. */
  rowsMax: 10_000,
  /** Records of a page unless it says otherwise, and fields that a list is ordered by. */
  pageRows: 100,
  ordersMax: 8,
  /** Indexes that a project declares, fields of one, and characters of the name of a field or collection in it. */
  indexesMax: 50,
  indexedFieldsMax: 3,
  indexedNameMax: 200,
  commitsMax: 1_000,
  /** Lines that a search finds unless it says otherwise, and at most. */
  matches: 200,
  matchesMax: 2_000,
  /** Characters of a line that was found. */
  lineLengthMax: 300,
  /** Larger files are not searched. */
  searchedBytesMax: 4 * MIB,
  /** Levels of folders that are shown unless said otherwise, and at most. */
  depth: 3,
  depthMax: 20,
  treeFilesMax: 20_000,
  /** Files that a language server is asked about, and findings that are told. */
  diagnosedFilesMax: 500,
  diagnosticsMax: 500,
  /** Edits of a file at once. */
  editsMax: 100,
  /** Commands that a search for them finds. */
  toolsMax: 50,
  /** Leases in which a step has places at a time, characters in the name of one, and places that it may have. */
  leasesMax: 20,
  leaseNameMax: 200,
  leaseCapacityMax: 10_000,
  /** How long a step has its place after the store has heard of it (the next attempt comes after about 17 s), how often it says so, and how long a command may take to end that could not. */
  leaseAliveMs: 30_000,
  leaseRenewMs: 4_000,
  leaseEndsWithinMs: 5_000,
  /** How long the health check waits for a part. */
  healthMs: 5_000,
  /** Latest durations per command that the metrics look at. */
  metricSamples: 1_000,
  /** Commands that the metrics tell apart. */
  metricNames: 1_000,
} as const;
