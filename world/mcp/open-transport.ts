/**
 * The way to an MCP server. A process of one gets a fixed small environment: where programs are found, who
 * the user is and where at home, and the variables that its settings state. No variable of a run reaches it,
 * and its words on stderr are kept for the message of a failure. It acts for runs, so it counts as a process
 * of a step: what it starts ends with it, and what is left to a person is refused to it.
 */
import { resolve } from 'node:path';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetchOutward } from '../http/outward.ts';
import { boundedMessages, exactMessages } from '../http/messages.ts';
import { fetchFromServer } from '../http/same-server.ts';
import { helperEnvironment, helperPath } from '../own-programs/helper-programs.ts';
import { NOBODY_THERE } from '../processes/nobody-there.ts';
import { findInit, underInit } from '../processes/step-init.ts';
import { MARK_MAX, markOf } from '../processes/step-mark.ts';
import type { ServerSettings } from './settings.ts';

const saidMax = 2_000;
/** One message of a server; a larger one ends the connection. */
const messageBytesMax = 32 * 1024 * 1024;

export interface OpenTransport {
  transport: Transport;
  /** The end of what its process said on stderr. */
  said: () => string;
}

export async function openTransport(settings: ServerSettings, project: string): Promise<OpenTransport> {
  if ('url' in settings) {
    const transport = new StreamableHTTPClientTransport(new URL(settings.url), {
      requestInit: { headers: { ...settings.headers } },
      fetch: async (address, init) =>
        exactMessages(
          boundedMessages(await fetchFromServer(fetchOutward, String(address), init), messageBytesMax),
          'nearest',
        ),
    });
    return { transport: transport, said: () => '' };
  }
  const { command, args, env, cwd = '.' } = settings;
  const launch = {
    file: command,
    args: [...args],
    env: { ...NOBODY_THERE, ...getDefaultEnvironment(), ...helperEnvironment(helperPath(project)), ...env },
    cwd: resolve(project, cwd),
  };
  const init = await findInit();
  const mark = { own: markOf(`mcp:${command}`), most: MARK_MAX };
  const { file, ...held } = init === null ? launch : underInit(launch, init, { mark, isTold: false });
  const transport = new StdioClientTransport({
    command: file,
    args: held.args,
    env: held.env,
    cwd: held.cwd,
    stderr: 'pipe',
    maxBufferSize: messageBytesMax,
  });
  let text = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    text = `${text}${chunk.toString('utf8')}`.slice(-saidMax);
  });
  return { transport, said: () => text.trim() };
}
