/** `sentinel web`. */
import { once } from 'node:events';
import { type Command, InvalidArgumentError } from 'commander';
import { type Config, readConfig } from '../../services/config/config.ts';
import type { SealKeys } from '../../services/config/seal-key.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import type { UiPlace } from '../../client/web/serve-web.ts';
import { openOutput } from '../output/output.ts';
import { Progress } from '../request/with-client.ts';
import { usage } from '../request/usage.ts';

interface Options {
  json?: boolean;
  port: number;
}

export function define(command: Command): void {
  command
    .description(
      'Opens the Web UI of the embedded Temporal server for you, until Ctrl-C: prints an address on loopback that works once, in one browser. ' +
        'Values of runs are shown in clear. Of a server of your own (TEMPORAL_ADDRESS), prints the address of its Web UI. Exit code 1 if the server is not up, or inside a step of a run.',
    )
    .argument('[handle]', 'the run to show first')
    .option('--port <number>', 'the port to listen on (default: any that is free)', portIn, 0)
    .addHelpText(
      'after',
      `
Examples:
  sentinel web
  sentinel web verify-project-7f
  sentinel web --json    {ok, url}`,
    )
    .action(async (handle: string | undefined, options: Options) => {
      await web(handle, options);
    });
}

async function web(handle: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  if (!readConfig().temporal.isExternal) await up(new Progress(output));
  const config = readConfig();
  const ui = placeOfUi(config);
  const first = await pathOf(handle, config);
  if (ui === null) {
    if (config.webUrl === null) throw usage('No address of a Web UI is known; set SENTINEL_WEB_URL.');
    output.object({ ok: true, url: `${config.webUrl}${first}` });
    return output.line(`${config.webUrl}${first}`);
  }
  const { serveWeb } = await import('../../client/web/serve-web.ts');
  const served = await serveWeb({ ui, keys: () => keysOf(config), first, port: options.port });
  output.object({ ok: true, url: served.url });
  output.line(served.url);
  output.note('The address works once. Ctrl-C closes the Web UI.');
  const ended = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal, { signal: ended.signal })));
  ended.abort();
  await served.close();
}

async function up(progress: Progress): Promise<void> {
  const { awaitServer } = await import('../../services/await-server.ts');
  await awaitServer('temporal', process.env, (text) => progress.say(text)).finally(() => progress.end());
}

/** Null: it is somebody else's. */
function placeOfUi({ temporal, home }: Config): UiPlace | null {
  if (temporal.isExternal) return null;
  const { webSocket, uiPort } = readServicesState(home)?.temporal ?? {};
  if (webSocket) return { socketPath: webSocket };
  return uiPort ? { host: '127.0.0.1', port: uiPort } : null;
}

async function pathOf(handle: string | undefined, config: Config): Promise<string> {
  if (handle === undefined) return '/';
  const { pathInWebUi } = await import('../../client/lookup/run-report.ts');
  return pathInWebUi(handle, config);
}

async function keysOf(config: Config): Promise<SealKeys | null> {
  const { keysIfThere } = await import('../../services/seal/open-keys.ts');
  if (config.database.url === null || !config.database.isExternal) return await keysIfThere(config, null);
  const { openClientStore } = await import('../../client/database-door.ts');
  const store = openClientStore(config.database.url, 1);
  try {
    return await keysIfThere(config, store);
  } finally {
    await store.close();
  }
}

function portIn(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw new InvalidArgumentError('A port is 1 to 65535.');
  return port;
}
