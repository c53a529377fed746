/** How the process of a step ends, or how its step ends before it. */
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import type { Hold } from '../../world/processes/kept/kept-processes.ts';
import { LeftBehind } from '../../world/processes/overtaken.ts';
import type { Exit } from '../../world/processes/step-init.ts';
import type { Breach } from './breach.ts';
import type { Child } from './child.ts';
import type { ShellContext } from './request.ts';

export type Ending =
  | { type: 'exit'; exit: Exit }
  | { type: 'timeout' }
  | { type: 'cancelled' }
  /** Another attempt goes on with the process. */
  | { type: 'left'; reason: unknown }
  /** Nobody knows how it ended. */
  | { type: 'lost' }
  | Breach;

export interface Ended {
  child: Pick<Child, 'exit' | 'breach'> & { lost?: Promise<void> };
  /** Of the step's time, what is left of it. */
  leftMs: number;
  /** Null: it ends with its worker. */
  hold: Hold | null;
}

/** A process that was ended says by whom: its worker may have been away then. */
export async function endingOf({ child, leftMs, hold }: Ended, context: ShellContext): Promise<Ending> {
  const ending = await waitForEnding(child, leftMs, { hold, context });
  if (hold === null || ending.type === 'left') return ending;
  if (!hold.isOurs()) return { type: 'left', reason: new LeftBehind('a later attempt watches over the process') };
  if (ending.type !== 'exit' && ending.type !== 'lost') return ending;
  const [reason, detail = ''] = hold.folder.reason?.split(' ') ?? [];
  if (reason === 'timeout') return { type: 'timeout' };
  if (reason === 'memory') return { type: 'memory', usedMb: Math.ceil(Number(detail) / 1024) };
  if (reason === 'cancelled') return { type: 'left', reason: new LeftBehind('its process was ended from outside') };
  return ending;
}

/** As `endingOf` reads it. */
export function reasonOf(ending: { type: 'timeout' | 'cancelled' } | Breach): string {
  if (ending.type === 'memory') return `memory ${ending.usedMb * 1024}`;
  return ending.type;
}

function waitForEnding(
  { exit, breach, lost }: Ended['child'],
  leftMs: number,
  { hold, context: { signal, keeping } }: { hold: Hold | null; context: ShellContext },
): Promise<Ending> {
  return new Promise((resolve) => {
    const finish = (ending: Ending): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      hold?.left.removeEventListener('abort', leave);
      resolve(ending);
    };
    const leave = (): void => finish({ type: 'left', reason: hold?.left.reason });
    const cancel = (): void => {
      const isLeft = hold !== null && keeping?.ends() === false;
      finish(isLeft ? { type: 'left', reason: new LeftBehind('another attempt goes on') } : { type: 'cancelled' });
    };
    const timer = setTimeout(() => finish({ type: 'timeout' }), Math.min(leftMs, SHELL_BOUNDS.timeoutMsMax));
    signal.addEventListener('abort', cancel, { once: true });
    hold?.left.addEventListener('abort', leave, { once: true });
    if (hold?.left.aborted === true) leave();
    if (signal.aborted) cancel();
    void breach.then(finish);
    void lost?.then(() => finish({ type: 'lost' }));
    void exit.then((ended) => finish({ type: 'exit', exit: ended }));
  });
}
