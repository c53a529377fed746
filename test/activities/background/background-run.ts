/** A run with the commands of the worker it runs on, for tests of processes that outlive their step. */
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { BackgroundProcesses } from '../../../operations/shell/background.ts';
import type { WatchResult } from '../../../operations/shell/watch.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Opened } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

let runs = 0;

export async function openRun({ store }: Opened, background = new BackgroundProcesses()) {
  runs += 1;
  const handle = `background-${process.pid}-${runs}`;
  const project = await temporaryFolder();
  await store.runs.create({
    handle,
    name: 'n',
    definitionHash: 'h',
    project,
    persona: 'ada',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  });
  const registry = builtInRegistry({ background });
  let steps = 0;
  const run = async <Result extends Json>(
    name: string,
    params: JsonObject,
    over: Partial<CommandContext> = {},
  ): Promise<Result> => {
    steps += 1;
    const context = commandContext(project, {
      run: { handle, project, persona: 'ada', definitionHash: 'h' },
      key: `steps.${steps}@1`,
      store,
      ...over,
    });
    return (await registry.run(name, params, context)) as Result;
  };
  const start = (
    command: string,
    rest: JsonObject = {},
    over: Partial<CommandContext> = {},
  ): Promise<{ executionId: string; pid: number; port?: number }> =>
    run('code/shell/execute', { command, wait: false, ...rest }, over);
  onTestFinished(() => background.close());
  return { handle, project, background, run, start };
}

export const texts = ({ lines }: WatchResult): string[] => lines.map(({ line }) => line);

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`waited in vain for: ${holds.toString()}`);
    await sleep(20);
  }
}
