/** What of that which runs publish is worth a message. */
import type { Json } from '../../language/json.ts';
import type { FedEvent } from '../../prisma/store/contract/cursor-contract.ts';
import type { Notice, NoticeKind } from '../../prisma/store/contract/notification-contract.ts';
import { seqOf } from '../../prisma/store/events/status-events.ts';

/** What `sentinel:HANDLE:status` carries, as far as it is read here. */
interface Told {
  question?: { id: string };
  outcome?: string;
  limit?: string;
}

/** Null where nobody wants to be told. */
export function noticeOf({ handle, key, name, data, at }: FedEvent): Notice | null {
  const seq = seqOf(key);
  if (seq === null) return null;
  const kind =
    name === `sentinel:${handle}:stuck`
      ? 'stuck'
      : name === `sentinel:${handle}:reminded`
        ? 'reminded'
        : kindOf(data, handle.includes('/'));
  return kind === null ? null : { handle, seq, kind, at };
}

/** The end of a nested run is told by the run around it. */
function kindOf(data: Json, isNested: boolean): NoticeKind | null {
  const { question, outcome, limit } = data as Told;
  if (question !== undefined) return question.id.endsWith(':stuck') ? 'stuck' : 'asked';
  if (isNested) return null;
  if (outcome === 'failed') return 'failed';
  return outcome === 'stopped' && limit !== 'stop' ? 'stopped' : null;
}
