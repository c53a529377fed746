/** Harnesses that are closed with the test file that opened them, and what several files ask of the world outside. */
import { readFileSync } from 'node:fs';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll } from 'vitest';
import { Harness } from './harness.ts';

/** Each with a database, a task queue and a project of its own, for tests that run beside each other. */
export function useHarnesses(): () => Promise<Harness> {
  const open: Harness[] = [];
  afterAll(async () => {
    await Promise.all(open.map((harness) => harness.close()));
  });
  return async () => {
    const harness = await Harness.open();
    open.push(harness);
    return harness;
  };
}

/** A zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0] !== 'Z';
  } catch {
    return false;
  }
}

/** With what code and sentence an update was refused. */
export async function refusal(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure
    ? `${error.cause.type ?? ''}: ${error.cause.message}`
    : String(error);
}
