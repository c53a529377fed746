/** `sentinel up`. */
import type { Command } from 'commander';
import type { ServicesState } from '../../services/config/services-state.ts';
import { projectConfig } from '../request/project-config.ts';
import type { WebhookState } from '../../services/webhook-state.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { Progress } from '../request/with-client.ts';

export function define(command: Command): void {
  command
    .description(
      'Starts the services that are not up: Temporal, Postgres, and a worker in the background; and the worker of this folder, if it has a sentinel.config. The workers get their settings from the environment of this command (ANTHROPIC_API_KEY, SENTINEL_WEBHOOK_SECRET and the like) ' +
        'and keep them until the next "up" or "down"; other verbs do not change them. Exit code 1 if something that was asked for is missing, such as the port of webhooks.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel up
  sentinel up --json`,
    )
    .action((options: { json?: boolean }) => up(options));
}

async function up(options: { json?: boolean }): Promise<void> {
  const output = openOutput(options);
  const progress = new Progress(output);
  const leave = (): never => {
    progress.end();
    output.note(
      '\nsentinel: the services continue to start; "sentinel status" shows them, "sentinel down" stops them.',
    );
    process.exit(EXIT.cancelled);
  };
  process.once('SIGINT', leave);
  const [{ ensureServices }, { webhookState }] = await Promise.all([
    import('../../services/ensure-services.ts'),
    import('../../services/webhook-state.ts'),
  ]);
  try {
    const { env } = await projectConfig(process.cwd(), output);
    const state = await ensureServices({
      env,
      project: process.cwd(),
      replacesSettings: true,
      onProgress: (text) => progress.say(text),
    });
    const webhooks = await webhookState(env, true);
    progress.end();
    show(state, webhooks, output);
    process.exitCode = webhooks?.ok === false ? EXIT.failed : EXIT.ok;
  } finally {
    progress.end();
    process.off('SIGINT', leave);
  }
}

function show(state: ServicesState, webhooks: WebhookState | null, output: Output): void {
  const { temporal, postgres, worker, workers, warnings } = state;
  output.object({
    ok: webhooks?.ok !== false,
    temporal: {
      address: temporal?.address ?? null,
      webUrl: temporal?.webUrl ?? null,
      socket: temporal?.socket ?? null,
      isExternal: temporal?.isExternal ?? false,
    },
    postgres: {
      socket: postgres?.socket ?? null,
      dataDir: postgres?.dataDir ?? null,
      isExternal: postgres?.isExternal ?? false,
    },
    worker: { pid: worker?.process?.pid ?? null, taskQueues: worker?.taskQueues ?? [] },
    workers: workers.map(({ project, taskQueue, process }) => ({ project, taskQueue, pid: process?.pid ?? null })),
    webhooks,
    warnings,
  });
  const { good, bad, warn, strong } = output.paint;
  const webUi = temporal?.webSocket ? 'sentinel web' : (temporal?.webUrl ?? 'unknown');
  output.line(`${good('✔')} ${strong('temporal')}  ${temporal?.address ?? ''}  web UI ${webUi}`);
  output.line(
    `${good('✔')} ${strong('postgres')}  ${postgres?.isExternal === true ? 'DATABASE_URL' : (postgres?.socket ?? '')}`,
  );
  output.line(
    `${good('✔')} ${strong('worker')}    pid ${worker?.process?.pid ?? '?'}, ${worker?.taskQueues.join(', ') ?? ''}`,
  );
  for (const { project, process } of workers.filter((one) => one.process !== null))
    output.line(`${good('✔')} ${strong('project')}   pid ${process?.pid ?? '?'}, ${project}`);
  if (webhooks !== null) {
    const { ok, host, port, found, remedy } = webhooks;
    output.line(
      `${ok ? good('✔') : bad('✖')} ${strong('webhooks')}  ${ok ? `http://${host}:${port}/events/NAME` : found}`,
    );
    if (remedy !== undefined) output.line(`${bad('webhooks')}: ${remedy}`);
  }
  for (const warning of warnings) output.line(warn(`⚠ ${warning}`));
}
