/** What steps say of outcomes that nobody knows (`onUnknown`). */
import { isJsonObject } from './json.ts';
import type { OnUnknown, Step, Verification } from './model.ts';

/** The command that a step asks whether something was done. Steps are looked at that the schema has refused, too. */
export function verificationOf(step: Step): Verification | undefined {
  const how: unknown = 'onUnknown' in step ? step.onUnknown : undefined;
  return isJsonObject(how) ? (how as Verification) : undefined;
}

/** Whether the run is told that the outcome of a process is unknown; else the process is started again. */
export const isToldOfUnknown = ({ onUnknown = 'retry' }: { onUnknown?: OnUnknown | undefined }): boolean =>
  onUnknown !== 'retry';
