/** What takes long says meanwhile that it is alive, so that the server does not take its worker for dead. */
import type { Json } from '../../language/json.ts';
import { SHELL_BOUNDS } from './bounds.ts';

interface Beating {
  heartbeat(details?: Json): void;
}

/** `said`: what those who look at the step are told of it. */
export async function beating<Result>(
  context: Beating,
  run: () => Promise<Result>,
  said: () => Json | undefined = () => undefined,
): Promise<Result> {
  const beat = setInterval(() => context.heartbeat(said()), SHELL_BOUNDS.heartbeatMs);
  try {
    return await run();
  } finally {
    clearInterval(beat);
  }
}
