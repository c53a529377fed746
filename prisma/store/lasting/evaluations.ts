/** The evaluations before, which one that has begun is compared with. */
import type { JsonObject } from '../../../language/json.ts';
import type { LazyPrisma } from '../connection/prisma-client.ts';
import type { StoredEvaluation } from '../evaluations/evaluation-contract.ts';

export async function evaluationsOf(prisma: LazyPrisma, file: string, limit: number): Promise<StoredEvaluation[]> {
  const { evaluation } = await prisma.get();
  const found = await evaluation.findMany({
    where: { file },
    orderBy: { position: 'desc' },
    take: limit,
    omit: { position: true },
  });
  return found.map(({ startedAt, finishedAt, result, ...rest }) => ({
    ...rest,
    startedAt: startedAt.getTime(),
    finishedAt: finishedAt?.getTime() ?? null,
    result: result as JsonObject | null,
  }));
}
