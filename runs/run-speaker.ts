/** The port through which commands see what runs ask, answer it, and tell their models something. */
import type { Client } from '@temporalio/client';
import type { RunPort } from '../operations/command.ts';
import { Failure } from '../world/failures/failures.ts';
import { VALUE_FAULT } from '../language/json.ts';
import { ClientError, type ClientErrorCode } from './client-error.ts';
import { answerRun, asksOfRun, tellRun } from './steer-run.ts';

/** What the run says of what it does not take. */
const REFUSALS: ReadonlySet<ClientErrorCode> = new Set<ClientErrorCode>([
  'QUESTION_UNKNOWN',
  'ANSWER_REFUSED',
  'NO_MODEL_STEP',
  'TELL_INVALID',
  VALUE_FAULT,
]);

export function runSpeaker(client: Client): Pick<RunPort, 'asks' | 'answer' | 'tell'> {
  return {
    asks: async (handle) => (await unlessEnded(() => asksOfRun(client, handle))) ?? { questions: [], answered: [] },
    answer: (handle, request) => unlessEnded(() => answerRun(client, handle, request)),
    tell: (handle, request) => unlessEnded(() => tellRun(client, handle, request)),
  };
}

async function unlessEnded<Reply>(say: () => Promise<Reply>): Promise<Reply | null> {
  try {
    return await say();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code === 'RUN_ENDED') return null;
    throw REFUSALS.has(error.code)
      ? new Failure(error.code, error.message.replace(/\.$/, ''), { cause: error })
      : error;
  }
}
