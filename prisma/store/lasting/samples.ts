/** What training samples are made of: the runs that asked models, and what stood beside their messages. */
import { defined } from '../../../language/defined.ts';
import type { JsonObject } from '../../../language/json.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { LazyPrisma } from '../connection/prisma-client.ts';
import type { AskedRuns, Run } from '../contract/contract.ts';
import type { ConversationOf } from '../contract/models/conversation-contract.ts';
import { toRun } from '../runs/run-row.ts';

const PAGE = 100;

/** Prisma's `startsWith` is a `like`, which reads these as wildcards. */
const literally = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

export async function* askedRuns(
  prisma: LazyPrisma,
  { handles, outcomes, name, since }: AskedRuns,
): AsyncGenerator<Run> {
  const { run } = await prisma.get();
  let last: string | undefined;
  for (;;) {
    const rows = await run.findMany({
      where: {
        turns: { some: {} },
        ...defined({
          OR: handles
            ?.map(withoutNul)
            .flatMap((handle) => [{ handle }, { handle: { startsWith: `${literally(handle)}/` } }]),
          outcome: outcomes && { in: [...outcomes] },
          name: name === undefined ? name : withoutNul(name),
          startedAt: since === undefined ? since : { gte: new Date(since) },
        }),
      },
      orderBy: [{ startedAt: 'asc' }, { handle: 'asc' }],
      take: PAGE,
      ...(last === undefined ? {} : { cursor: { handle: last }, skip: 1 }),
    });
    for (const row of rows) yield toRun(row);
    last = rows.at(-1)?.handle;
    if (rows.length < PAGE) return;
  }
}

export async function requestHead(
  prisma: LazyPrisma,
  { handle, conversation }: ConversationOf,
): Promise<JsonObject | null> {
  const { modelRequest } = await prisma.get();
  const found = await modelRequest.findFirst({
    where: { handle, conversation },
    orderBy: { position: 'desc' },
    select: { headMessage: { select: { message: true } } },
  });
  return (found?.headMessage.message ?? null) as JsonObject | null;
}
