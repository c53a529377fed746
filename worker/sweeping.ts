/** Takes away what runs that ended long ago have left in the store: when a worker starts, and while it lives. */
import type { Store } from '../prisma/store/contract.ts';

const everyMs = 3_600_000;

export function keepSwept({ journal, executions, secrets }: Pick<Store, 'journal' | 'executions' | 'secrets'>): { end(): void } {
  const sweep = (): void => {
    // What one round could not take away, because the store was away, the next one does.
    for (const part of [journal, executions, secrets]) void part.sweep().catch(() => undefined);
  };
  sweep();
  const timer = setInterval(sweep, everyMs).unref();
  return { end: () => clearInterval(timer) };
}
