/** `sentinel worker`: what production runs, one or many on each machine. */
import type { Command } from 'commander';

export function define(command: Command): void {
  command
    .description(
      'Runs a worker alone, in the foreground, until SIGTERM or SIGINT; steps under way end first. ' +
        'Takes its servers from TEMPORAL_ADDRESS and DATABASE_URL, and its queues from SENTINEL_TASK_QUEUES.',
    )
    .addHelpText('after', `
Prints one JSON line when it is ready: {"ready": true, "pid": …, "taskQueues": […]}

Examples:
  sentinel worker
  SENTINEL_TASK_QUEUES=sentinel,sentinel@gpu-1 sentinel worker`)
    .action(async () => {
      const { runWorkerProcess } = await import('../../../worker/main.ts');
      process.exitCode = await runWorkerProcess();
    });
}
