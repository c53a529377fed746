/** The context of a command, over a store or, for commands that need none, over the log alone. */
import type { CommandContext } from '../../../operations/command.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import { shellContext } from './step-context.ts';

/** Says which part a command reached for that its test did not give it. */
function absent(part: string): never {
  throw new Error(`this test has no ${part}`);
}

export function commandContext(project: string, over: Partial<CommandContext> = {}): CommandContext {
  const step = shellContext(project);
  const store = new Proxy({ logs: step.log } as unknown as Store, {
    get: (target, part) => Reflect.get(target, part) ?? absent(`store.${String(part)}`),
  });
  return {
    run: step.run,
    key: step.key,
    attempt: 1,
    store,
    session: {
      isWriting: false,
      read: () => absent('session'),
      find: () => absent('session'),
      write: () => absent('session'),
      later: () => absent('session'),
      mark: () => absent('session'),
      keep: () => absent('session'),
      takeBack: () => absent('session'),
      attempt: () => absent('session'),
    },
    runPort: {
      start: () => absent('runs'),
      steps: () => absent('runs'),
      edit: () => absent('runs'),
      control: () => absent('runs'),
      wake: () => absent('runs'),
      asks: () => absent('runs'),
      answer: () => absent('runs'),
      tell: () => absent('runs'),
    },
    turn: () => absent('models'),
    signal: step.signal,
    timeoutMs: 60_000,
    now: () => Date.now(),
    heartbeat: () => undefined,
    ...over,
  };
}
