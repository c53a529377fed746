/** Definitions, runs and the inbox as resources, which an editor can put into a conversation. */
import { ResourceTemplate, type McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { ClientError } from '../client.ts';
import { standingOf } from '../lookup/run-standing.ts';
import { logsOf, traceOf } from './serve-runs.ts';
import { savedFor, servedFiles, type Served, shown } from './served.ts';

const runsListed = 50;
const linesShown = 1000;

const json = (uri: URL, value: unknown): ReadResourceResult => ({
  contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(value, null, 2) }],
});
const text = (uri: URL, written: string): ReadResourceResult => ({
  contents: [{ uri: uri.href, mimeType: 'text/plain', text: shown(written) }],
});

const one = (value: string | string[] | undefined): string =>
  decodeURIComponent((Array.isArray(value) ? value[0] : value) ?? '');

export function addResources(server: McpServer, served: Served): void {
  const { client } = served;
  server.registerResource(
    'inbox',
    'sentinel://inbox',
    { description: 'What runs ask.', mimeType: 'application/json' },
    async (uri) => json(uri, await client.inbox()),
  );
  server.registerResource(
    'definition',
    new ResourceTemplate('sentinel://definitions/{name}', { list: undefined }),
    { description: 'A saved sentinel in its canonical form.', mimeType: 'application/json' },
    async (uri, { name }) => {
      const wanted = one(name);
      const inFiles = (await servedFiles(served)).known(wanted);
      const definition = inFiles ?? (await (await savedFor(served)())?.find(wanted))?.definition;
      if (definition === undefined)
        throw new ClientError('DEFINITION_NOT_FOUND', `There is no saved sentinel "${wanted}".`);
      return json(uri, definition);
    },
  );
  const runs = async (): Promise<{ resources: { uri: string; name: string }[] }> => ({
    resources: (await client.list({ limit: runsListed })).map(({ handle, name }) => ({
      uri: `sentinel://runs/${encodeURIComponent(handle)}`,
      name: `${name} ${handle}`,
    })),
  });
  server.registerResource(
    'run',
    new ResourceTemplate('sentinel://runs/{handle}', { list: runs }),
    { description: 'How a run stands.', mimeType: 'application/json' },
    async (uri, { handle }) => json(uri, await standingOf(client, one(handle))),
  );
  server.registerResource(
    'trace',
    new ResourceTemplate('sentinel://runs/{handle}/trace', { list: undefined }),
    { description: 'The steps of a run as a tree.', mimeType: 'text/plain' },
    async (uri, { handle }) => text(uri, await traceOf(client, one(handle))),
  );
  server.registerResource(
    'logs',
    new ResourceTemplate('sentinel://runs/{handle}/logs', { list: undefined }),
    { description: 'The last lines that the steps of a run printed.', mimeType: 'text/plain' },
    async (uri, { handle }) => text(uri, (await logsOf(client, one(handle), linesShown)).join('\n')),
  );
}
