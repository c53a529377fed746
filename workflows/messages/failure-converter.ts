/**
 * Failures as they go to Temporal: their messages and stack traces are values like all others, which are
 * sealed. In clear stay the type, which is a code, and which activity or run it was.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
