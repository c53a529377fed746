/** From the requests that a run and the runs below it made to the entries of a cassette. */
import { readCompactionKey } from '../../../language/models/turn-keys.ts';
import type { StoredRequest } from '../../../prisma/store/contract/models/cassette-contract.ts';
import type { CassetteEntry } from './cassette.ts';
import { Placeholders, type RunNames } from './placeholders.ts';
import { digestOf, formOf, readAsked } from './request-form.ts';

/** Where a request was made, said without the run's handle. */
export function placeOf(
  root: string,
  { handle, conversation, turn }: Pick<StoredRequest, 'handle' | 'conversation' | 'turn'>,
): CassetteEntry['at'] {
  // A run that a command started is named as its root is not; two of them are told apart by what they ask.
  const run = handle === root ? '' : handle.startsWith(`${root}/`) ? handle.slice(root.length + 1) : '(started)';
  const compaction = readCompactionKey(conversation);
  return compaction === null
    ? { run, key: conversation, turn }
    : { run, key: compaction.conversation, turn: compaction.turn };
}

export function entryOf(stored: StoredRequest, names: RunNames): CassetteEntry {
  const { head, outcome } = readAsked(stored);
  const placeholders = new Placeholders(names);
  const request = placeholders.request(formOf(head, stored.messages));
  return {
    digest: digestOf(request),
    at: placeOf(names.root, stored),
    request,
    model: head.model,
    outcome: placeholders.answer(outcome),
  };
}
