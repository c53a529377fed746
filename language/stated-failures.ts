/** What a code of a failure means, and whether a repeat helps, as whoever fails with it states. */
export type StatedFailure = string | { readonly title: string; readonly retryable: boolean };

export interface StatedFailures {
  readonly [code: string]: StatedFailure;
}

export const titleOf = (stated: StatedFailure): string => (typeof stated === 'string' ? stated : stated.title);

/** Whether the same again may end otherwise. */
export const isRetryable = (stated: StatedFailure): boolean => typeof stated === 'string' || stated.retryable;
