/** The codes with which the commands of an integration fail. */
import type { StatedFailures } from '../../language/stated-failures.ts';

export const UNJUDGED: StatedFailures = {
  INTEGRATION_NOT_JUDGED: { title: 'A task cannot be judged without states of the project', retryable: false },
};

export const DISABLED: StatedFailures = {
  INTEGRATION_DISABLED: { title: 'The settings switch integration off', retryable: false },
};

export const UNSEEN: StatedFailures = {
  INTEGRATION_UNSEEN: { title: 'A model changes only files that are judged', retryable: false },
};

export const UNRESTORED: StatedFailures = {
  INTEGRATION_NOT_RESTORED: { title: 'A file of a task was changed by somebody else', retryable: false },
};
