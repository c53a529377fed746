/** Bounds of checkpoints. */
export const CHECKPOINT_BOUNDS = {
  /** A larger file is left out of the states, and said to be. */
  fileBytesMax: 2 * 1024 * 1024,
  /** Of a project with more files, or more bytes that are new at once, no state is taken. */
  filesMax: 200_000,
  /** Of a project with more files it is git that looks for those that changed. */
  quickFilesMax: 5_000,
  watchedFilesMax: 100_000,
  /** Of fewer it costs nothing to look at each. */
  watchedFilesMin: 100,
  /** Projects that one process watches, and how often it takes what was told. */
  watchesMax: 32,
  drainMs: 500,
  /** Names of which changes were told; with more everything is looked at. */
  dirtyMax: 20_000,
  /** Files with names elsewhere that are looked at each time. */
  linkedMax: 500,
  /** A project that is watched is looked at as a whole all the same, so often. */
  checkMs: 60_000,
  /** Of more names that are new, or files that changed, git takes care. */
  unknownMax: 5_000,
  unlikeMax: 500,
  unlikeBytesMax: 32 * 1024 * 1024,
  /** Where git had to look, it does so for so long. */
  unsureMs: 60_000,
  /** What is known of a project that nobody looked at for so long is forgotten: a clean-up may have taken contents. */
  knownMs: 86_400_000,
  /** What one call of git puts into the index. */
  filesAtOnce: 20_000,
  /** What one call of git stores: so many descriptors are open meanwhile. */
  filesOpen: 200,
  /** Names of files that a call of git prints. */
  listBytesMax: 512 * 1024 * 1024,
  newBytesMax: 512 * 1024 * 1024,
  /** One call of git, a few of which are a look; it is given up after that. */
  gitMs: 20_000,
  /** A project that was too large is not looked at again for so long. */
  givenUpMs: 10 * 60_000,
  /** A look that met files in the middle of a change is repeated. */
  tries: 3,
  /** The end of a step is written while the store is away, in waits that double. */
  endRetryMs: 100,
  endRetries: 7,
  /** Names of large files that a row holds. */
  largeMax: 500,
  /** Text of one step's diff. */
  patchBytesMax: 1024 * 1024,
  /** Of a repository with more, it is not recorded what moves in it. */
  refsMax: 20_000,
  workTreesMax: 1_000,
  refFileBytesMax: 8 * 1024 * 1024,
  /** An index that says more is left out of the record. */
  stagedBytesMax: 16 * 1024 * 1024,
  indexBytesMax: 64 * 1024 * 1024,
  /** Of a diff that shows some files alone. */
  filesNamed: 500,
  blobsAtOnce: 200,
} as const;
