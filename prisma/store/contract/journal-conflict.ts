/** Another attempt of the same step already journaled its result; that result is the true one. */
export class JournalConflict extends Error {
  constructor(handle: string, key: string, cause?: unknown) {
    super(`step ${key} of run ${handle} was already journaled by another attempt; take the result from the journal`, {
      cause,
    });
    this.name = 'JournalConflict';
  }
}

export function isJournalConflict(error: unknown): error is JournalConflict {
  return error instanceof JournalConflict;
}

/** Another segment's events have the numbers that this one's would have had. */
export class PlaceTaken extends Error {
  constructor(handle: string, key: string, cause?: unknown) {
    super(`the numbers for the events of ${key} of run ${handle} were taken by another segment; take the next place`, {
      cause,
    });
    this.name = 'PlaceTaken';
  }
}

/** The database refuses what is to be committed, and would refuse it for ever. */
export class CommitRefused extends Error {
  constructor(handle: string, key: string, cause: Error) {
    super(`what step ${key} of run ${handle} has to commit is refused: ${cause.message}`, { cause });
    this.name = 'CommitRefused';
  }
}
