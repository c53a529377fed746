/** A history from a file, as Temporal's own command line writes it. */
import { readFileSync } from 'node:fs';
import { historyFromJSON, type History } from '@temporalio/common/lib/proto-utils.js';
import { ClientError } from '../../runs/client-error.ts';

const REMEDY = 'give the JSON that "temporal workflow show --output json" prints.';

export function readHistoryFile(file: string): History {
  const history = read(file);
  if ((history.events?.[0]?.workflowExecutionStartedEventAttributes ?? null) !== null) return history;
  throw new ClientError('USAGE', `--history ${file} does not begin with the start of a run; ${REMEDY}`);
}

function read(file: string): History {
  try {
    return historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new ClientError(
      'USAGE',
      `--history ${file} cannot be read (${error instanceof Error ? error.message : String(error)}); ${REMEDY}`,
      { cause: error },
    );
  }
}
