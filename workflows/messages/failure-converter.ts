/**
 * Failures as they go to Temporal: their messages and stack traces are values like all others, which are
 * sealed. In clear stay the type, which is a code, which activity or run it was, and why a run refuses a query.
 */
import { DefaultFailureConverter } from '@temporalio/common';
import { QueryRefusal } from './query-refusal.ts';

type Convert = DefaultFailureConverter['errorToFailure'];

class SealedFailures extends DefaultFailureConverter {
  constructor() {
    super({ encodeCommonAttributes: true });
  }

  override errorToFailure(...[error, ...rest]: Parameters<Convert>): ReturnType<Convert> {
    return error instanceof QueryRefusal ? { message: error.message } : super.errorToFailure(error, ...rest);
  }
}

export const failureConverter = new SealedFailures();
