/** What a verb asks of the store in one session, which ends with it. */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { OpenSession } from '../../prisma/store/contract/session-contract.ts';
import type { OpenClient } from '../../client/open-client.ts';

export async function withSession<Result>(
  client: OpenClient,
  ask: (session: OpenSession, store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await client.store();
  const session = store.session();
  try {
    return await ask(session, store);
  } finally {
    await session.close();
  }
}
