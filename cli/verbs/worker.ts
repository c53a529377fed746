/** `sentinel worker`: a worker for production, one or many on each machine. */
import type { Command } from 'commander';
import { readConfig, type WorkerVersion } from '../../services/config/config.ts';
import { withProject } from '../../services/config/project-file.ts';
import { ownWorkerOf } from '../../services/own-worker.ts';
import { usage } from '../request/usage.ts';
import { defined } from '../../language/defined.ts';

interface Options {
  buildId?: string;
  deployment?: string;
  current?: boolean;
  queue?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Runs a worker alone, in the foreground, until SIGTERM or SIGINT; steps under way end first. ' +
        'Takes its servers from TEMPORAL_ADDRESS and DATABASE_URL, and its queues from SENTINEL_TASK_QUEUES.',
    )
    .option('--build-id <id>', 'the version of this worker; a run stays on workers of the version on which it began')
    .option('--deployment <name>', 'the deployment of which this is a version (default: sentinel)')
    .option(
      '--current',
      'start new runs on this version from now on (the first version of a deployment is always current)',
    )
    .option('--queue <name>', "serve this queue of a system's commands alone, for the project of the current folder")
    .addHelpText(
      'after',
      `
Prints one JSON line when it is ready: {"ready": true, "pid": …, "taskQueues": […]}, with versions also
"deploymentName", "buildId" and "isCurrent".

Examples:
  sentinel worker
  sentinel worker --queue training    on a machine of its own, beside the workers of the runs
  sentinel worker --build-id "$(git rev-parse --short HEAD)" --current
  SENTINEL_TASK_QUEUES=sentinel,sentinel@gpu-1 sentinel worker`,
    )
    .action(async (options: Options) => {
      const version = versionOf(options);
      const { runWorkerProcess } = await import('../../worker/main.ts');
      process.exitCode = await runWorkerProcess({
        ...(version === null ? {} : { version }),
        takeOver: options.current === true,
        ...(options.queue === undefined ? {} : servingQueue(options.queue)),
      });
    });
}

/** Of the project of the current folder, unless SENTINEL_PROJECT names another. */
function servingQueue(queue: string): { queue: string; project?: string } {
  const { SENTINEL_PROJECT: project } = withProject(process.env, process.cwd());
  if (project !== undefined) process.env['SENTINEL_PROJECT'] = project;
  const own = project === undefined ? ownWorkerOf(process.cwd(), process.env) : null;
  return { queue, ...(own === null ? {} : { project: own.project }) };
}

/** Options override the environment. */
function versionOf({ buildId, deployment, current }: Options): WorkerVersion | null {
  const { SENTINEL_BUILD_ID, SENTINEL_DEPLOYMENT, ...rest } = process.env;
  const id = buildId ?? SENTINEL_BUILD_ID;
  if (id === undefined || id === '') {
    if (deployment !== undefined || current === true)
      throw usage('--deployment and --current say something of a version; give it with --build-id.');
    return null;
  }
  const name = deployment ?? SENTINEL_DEPLOYMENT;
  return readConfig({ ...rest, SENTINEL_BUILD_ID: id, ...defined({ SENTINEL_DEPLOYMENT: name }) }).version;
}
