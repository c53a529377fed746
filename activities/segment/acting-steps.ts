/** Shell steps that a segment begins: as their activity performs them, with their logs in the segment's commits. */
import { SHELL } from '../../interpreter/contract.ts';
import type { ShellEffect } from '../../interpreter/effect.ts';
import type { RunInput } from '../../interpreter/host.ts';
import { defined } from '../../language/defined.ts';
import type { RunPort } from '../../operations/command.ts';
import type { StepCheckpoints } from '../../operations/checkpoints/step-checkpoints.ts';
import { quickContext } from '../../operations/quick-context.ts';
import type { DayBudgets } from '../limits/day-budgets.ts';
import { secretsOf } from '../../operations/secrets/secrets.ts';
import { canBeKept } from '../../operations/shell/run-shell.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { KeptProcesses } from '../../world/processes/kept/kept-processes.ts';
import { Failure } from '../../world/failures/failures.ts';
import { keepState } from '../steps/checkpointed.ts';
import type { KnownContext } from '../steps/perform-command.ts';
import { runLine } from '../steps/shell-line.ts';
import type { Act, ActingSteps } from './acts.ts';

export interface ActingParts {
  store: Store;
  runs: RunPort;
  /** Null: steps write without a state of the project before. */
  checkpoints: StepCheckpoints | null;
  /** Absent: what is started ends with this worker. */
  kept?: KeptProcesses | undefined;
  /** Absent: no persona has a budget of a day. */
  days?: DayBudgets;
  beginsInSegments?: boolean;
}

export function actingSteps(parts: ActingParts): ActingSteps {
  const { store, kept, checkpoints, days, beginsInSegments = true } = parts;
  return {
    canBegin: (effect) => (kept === undefined || !beginsInSegments ? Promise.resolve(false) : canBeKept(effect)),
    async mayBegin({ persona, handle }, { key }) {
      try {
        await days?.begin({ persona, handle, key });
        return true;
      } catch (error) {
        // Its activity is held back in the same way, and the run waits there.
        if (error instanceof Failure) return false;
        throw error;
      }
    },
    keepState: (run, { key, confinement, begun = 0 }, rows) =>
      keepState(
        checkpoints,
        { run, key, attempt: begun + 1, ...defined({ confinement }) },
        { what: SHELL, isBackground: false },
        rows,
      ),
    async perform(input, effect, act) {
      const { command, args, cwd, env, files, stdin, onUnknown } = effect;
      const request = { command, ...defined({ args, cwd, env, files, stdin, onUnknown }) };
      return runLine(request, await contextOf(parts, input, effect, act), null);
    },
    write: (session, chunks) => store.logs.add(session, chunks),
    forget: (handle, key) => kept?.forget(handle, key),
  };
}

async function contextOf(
  { store, runs, kept, checkpoints }: ActingParts,
  { handle, project, persona, definitionHash }: RunInput,
  { key, timeoutMs, confinement, reach, secrets, begun = 0 }: ShellEffect,
  act: Act,
): Promise<KnownContext> {
  const append: Store['logs']['append'] = (chunks) => Promise.resolve(act.log(chunks));
  const logs = begun === 0 ? { ...store.logs, append } : store.logs;
  return {
    ...quickContext({
      run: { handle, project, persona, definitionHash },
      key,
      store: { ...store, logs },
      session: store.session(),
      runPort: runs,
      timeoutMs,
    }),
    attempt: begun + 1,
    signal: act.signal,
    checkAttempt: act.checkAttempt,
    secrets: await secretsOf(store, secrets),
    ...(kept === undefined ? {} : { keeping: { processes: kept, ends: () => act.ends() } }),
    ...defined({ confinement, reach }),
    ...(checkpoints === null ? {} : { checkpoints }),
  };
}
