/** The codes with which the commands of a cycle fail, and those of a changeset besides. */
import type { StatedFailures } from '../../language/stated-failures.ts';

export const CYCLE_FAILURES: StatedFailures = {
  CYCLE_UNDER_WAY: { title: 'A cycle is under way in the repository', retryable: false },
  CYCLE_NONE: { title: 'There is no such cycle', retryable: false },
  CYCLE_EDGE_MISSING: { title: 'The state of a cycle does not lead there', retryable: false },
};

export const CHANGESET_FAILURES: StatedFailures = {
  ...CYCLE_FAILURES,
  CHANGESET_INVALID: { title: 'A text is no changeset', retryable: false },
  CHANGESET_REFUSED: { title: 'A changeset cannot be done as a whole', retryable: false },
  CHANGESET_STALE: { title: 'A file changed after a changeset was shown', retryable: false },
  CHANGESET_NOT_APPROVED: { title: 'Nobody approved a changeset', retryable: false },
  CHANGESET_NOT_WRITTEN: 'The files of a changeset could not be written',
  CHANGESET_NOT_COMMITTED: { title: 'Git did not commit a changeset', retryable: false },
  CHANGESET_RECORD_UNREADABLE: { title: 'What a changeset was doing cannot be read', retryable: false },
};
