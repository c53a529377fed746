/**
 * The one way an activity says "the world said no". A non-zero exit code is a result, not a
 * failure; not being able to start is a failure. `worker/` turns it into an `ApplicationFailure`
 * whose type is the code.
 */
import type { FailureInfo } from '../../language/failure.ts';
import type { JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { ownMasker } from '../own-keys/own-keys.ts';

export class Failure extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly details: JsonObject | undefined;

  constructor(
    code: string,
    message: string,
    options: { retryable?: boolean; details?: JsonObject; cause?: unknown } = {},
  ) {
    // Half a character, cut by whoever quotes something, is no text that Temporal takes.
    super(ownMasker().text(message.replaceAll(/\p{Surrogate}/gu, '\uFFFD')), { cause: options.cause });
    this.name = code;
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = ownMasker().json(options.details);
  }

  toInfo(): FailureInfo {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...defined({ details: this.details }),
    };
  }
}
