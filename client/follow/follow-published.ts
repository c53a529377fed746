/** Published events as they come. */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { KeptEvent, KeptQuery } from '../../prisma/store/contract/event-contract.ts';

/** Events that one request returns. */
const PAGE = 500;

export interface Following {
  query: Omit<KeptQuery, 'limit' | 'after'>;
  /** The position behind which it begins. */
  after: number;
  /** Whether whoever publishes them has ended; asked before each reading. */
  isOver: () => Promise<boolean>;
  /** Ends it. */
  signal?: AbortSignal | undefined;
}

export async function* followPublished(
  { signals }: Pick<Store, 'signals'>,
  { query, after, isOver, signal }: Following,
): AsyncGenerator<KeptEvent> {
  const published = signals.listen();
  try {
    for (let from = after; ;) {
      if (signal?.aborted === true) return;
      const isLast = await isOver();
      const found = await signals.kept({ ...query, after: from, limit: PAGE });
      yield* found;
      from = found.at(-1)?.position ?? from;
      if (found.length === PAGE) continue;
      if (isLast) return;
      await published.next(signal);
    }
  } finally {
    published.close();
  }
}
