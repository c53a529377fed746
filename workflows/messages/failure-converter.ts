/**
 * Failures as they go to Temporal: their messages and stack traces are values like all others, which are
 * sealed. In clear stay the type, which is a code, and which activity or run it was.
 *
 * In clear, too, is why a message was not taken and that a query came too early: the failure of a query comes
 * to whoever asked with its message alone, and these say nothing of the run.
 */
import { ApplicationFailure, DefaultFailureConverter } from '@temporalio/common';
import { NOT_YET } from './messages.ts';
import { NOT_SEALED } from './unsealed.ts';

type Convert = DefaultFailureConverter['errorToFailure'];

class SealedFailures extends DefaultFailureConverter {
  private readonly clear = new DefaultFailureConverter();

  constructor() {
    super({ encodeCommonAttributes: true });
  }

  override errorToFailure(...[error, ...rest]: Parameters<Convert>): ReturnType<Convert> {
    if (!saysNothingOfTheRun(error)) return super.errorToFailure(error, ...rest);
    return { ...this.clear.errorToFailure(error, ...rest), stackTrace: '' };
  }
}

const saysNothingOfTheRun = (error: unknown): boolean =>
  error instanceof ApplicationFailure ? error.type === NOT_SEALED : error instanceof Error && error.message === NOT_YET;

export const failureConverter = new SealedFailures();
