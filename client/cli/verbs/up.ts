/** `sentinel up`. */
import type { Command } from 'commander';
import type { ServicesState } from '../../../services/config/services-state.ts';
import { openOutput } from '../output/output.ts';
import { projectConfig } from '../request/project-config.ts';
import { Progress } from '../request/with-client.ts';

export function define(command: Command): void {
  command
    .description(
      'Starts the services that are not up: Temporal, Postgres, and a worker in the background. What the environment tells the worker (ANTHROPIC_API_KEY, SENTINEL_WEBHOOK_SECRET and the like) ' +
        'and the sentinel.config of this folder hold until another "up" or "down": other verbs leave them as they are.',
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
  const { ensureServices } = await import('../../../services/ensure-services.ts');
  const progress = new Progress(output);
  let state: ServicesState;
  try {
    const { env } = await projectConfig(process.cwd(), output);
    state = await ensureServices({ env, replacesSettings: true, onProgress: (text) => progress.say(text) });
  } finally {
    progress.end();
  }
  const { temporal, postgres, worker, warnings } = state;
  output.object({
    ok: true,
    temporal: {
      address: temporal?.address ?? null,
      webUrl: temporal?.webUrl ?? null,
      isExternal: temporal?.isExternal ?? false,
    },
    postgres: {
      port: postgres?.port ?? null,
      dataDir: postgres?.dataDir ?? null,
      isExternal: postgres?.isExternal ?? false,
    },
    worker: { pid: worker?.process?.pid ?? null, taskQueues: worker?.taskQueues ?? [] },
    warnings,
  });
  const { good, warn, strong } = output.paint;
  output.line(
    `${good('✔')} ${strong('temporal')}  ${temporal?.address ?? ''}  web UI ${temporal?.webUrl ?? 'unknown'}`,
  );
  output.line(
    `${good('✔')} ${strong('postgres')}  ${postgres?.isExternal === true ? 'DATABASE_URL' : `port ${postgres?.port ?? '?'}`}`,
  );
  output.line(
    `${good('✔')} ${strong('worker')}    pid ${worker?.process?.pid ?? '?'}, ${worker?.taskQueues.join(', ') ?? ''}`,
  );
  for (const warning of warnings) output.line(warn(`⚠ ${warning}`));
}
