/** `sentinel mcp list|accept|serve`: the MCP servers of a project, and Sentinel as one. */
import { Transform } from 'node:stream';
import type { Command } from 'commander';
import type { Inspected, ServerReport } from '../../client/mcp/inspect-servers.ts';
import type { ToolChange } from '../../client/mcp/tool-changes.ts';
import type { Paint } from '../../client/show/paint.ts';
import { ClientError } from '../../runs/client-error.ts';
import { defined } from '../../language/defined.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { policyGiven, policyOption } from '../request/policy-file.ts';
import { projectFolder } from '../request/run-request.ts';
import { usage } from '../request/usage.ts';
import { speakerOf, speakerOption, userName } from '../request/speaker.ts';
import { nearestOf } from '../../client/nearest.ts';

interface Options {
  json?: boolean;
  project: string;
}

export function define(verb: Command): void {
  verb
    .description(
      'Shows the tools of the MCP servers in sentinel.config, accepts them, and serves Sentinel itself to the agent of an editor.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel mcp list
  sentinel mcp accept tracker 3f0c…   the digest is the one that "list" shows
  sentinel mcp serve`,
    );
  defineSubverbs(verb, {
    list: { summary: 'compare the tools of servers with the accepted ones', kind: 'looks', define: defineList },
    accept: { summary: 'accept the tools of a server that "list" showed', kind: 'looks', define: defineAccept },
    serve: { summary: 'serve sentinels and runs as MCP tools, on stdio', kind: 'acts', define: defineServe },
  });
}

const projectOption = (command: Command): Command =>
  command.option('--project <dir>', 'the folder whose sentinel.config names them', '.');

function defineList(command: Command): void {
  projectOption(command)
    .description(
      'Starts each server for a moment and shows its tools: accepted, new, or held because they differ from the accepted ones, with the differences. Exit code 1 if a server is held, new or cannot be reached.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel mcp list
  sentinel mcp list --json    [{server, state, tools, digest, changes: [{tool, change, diff}], accepted}]`,
    )
    .action(async (_options: unknown, self: Command) => {
      process.exitCode = await list(self.optsWithGlobals<Options>());
    });
}

async function list(options: Options): Promise<number> {
  const output = openOutput(options);
  const at = await serversOf(options, output);
  const { inspectServer } = await import('../../client/mcp/inspect-servers.ts');
  const reports = await Promise.all(Object.keys(at.servers).map((server) => inspectServer(at, server)));
  output.object(reports);
  if (reports.length === 0) output.line('No MCP servers are configured ("mcpServers" in sentinel.config).');
  for (const report of reports) for (const line of reportLines(report, output.paint)) output.line(line);
  return reports.every(({ state }) => state === 'accepted') ? EXIT.ok : EXIT.failed;
}

function reportLines(
  { server, state, tools, digest, changes, accepted, message }: ServerReport,
  paint: Paint,
): string[] {
  const name = paint.strong(server);
  switch (state) {
    case 'unreachable':
      return [`${paint.bad('✖')} ${name}  ${message ?? 'cannot be reached'}`];
    case 'accepted':
      return [`${paint.good('✔')} ${name}  ${tools.join(', ')}  ${paint.dim(`accepted by ${accepted?.by ?? ''}`)}`];
    case 'new':
    case 'held': {
      const what =
        state === 'new' ? 'never accepted' : 'held: its tools, or how it is started, are not what was accepted';
      return [
        `${paint.warn('⚠')} ${name}  ${what}; "sentinel mcp accept ${server} ${digest ?? ''}" accepts them`,
        ...changeLines(changes, paint),
      ];
    }
    default:
      return state satisfies never;
  }
}

const MARKS = { new: '+', gone: '-', changed: '~' };

function changeLines(changes: readonly ToolChange[], paint: Paint): string[] {
  return changes.flatMap(({ tool, change, diff }) => [
    `  ${MARKS[change]} ${paint.strong(tool)}  ${change}`,
    ...diff.map(
      (line) => `      ${line.startsWith('+') ? paint.good(line) : line.startsWith('-') ? paint.bad(line) : line}`,
    ),
  ]);
}

function defineAccept(command: Command): void {
  projectOption(command)
    .description(
      'Accepts the names, descriptions, schemas and annotations of the tools of a server, and how it is started, as "sentinel mcp list" showed them under DIGEST. The tools are then commands, and the server is held if any of it changes. Exit code 1 if the server has something else now or cannot be reached, or inside a step of a run.',
    )
    .argument('<server>', 'the name of the server in sentinel.config')
    .argument('<digest>', 'the digest that "sentinel mcp list" shows')
    .addHelpText(
      'after',
      `
Examples:
  sentinel mcp accept tracker 3f0c…
  sentinel mcp accept tracker 3f0c… --json    {ok, server, tools, changes}`,
    )
    .action(async (server: string, digest: string, _options: unknown, self: Command) => {
      await accept(server, digest, self.optsWithGlobals<Options>());
    });
}

async function accept(server: string, digest: string, options: Options): Promise<void> {
  const output = openOutput(options);
  const at = await serversOf(options, output, true);
  if (!Object.hasOwn(at.servers, server)) {
    const names = Object.keys(at.servers);
    const near = nearestOf(server, names, (name) => `write "${name}", or `);
    throw usage(`sentinel.config names no MCP server "${server}"; ${near}see "sentinel mcp list".`);
  }
  const { acceptServer } = await import('../../client/mcp/inspect-servers.ts');
  const accepted = await acceptServer(at, server, { digest, by: userName() }).catch((error: unknown) => {
    throw new ClientError('SERVICES', error instanceof Error ? `${error.message}.` : String(error));
  });
  if (accepted === null)
    throw new ClientError(
      'SERVICES',
      `The MCP server "${server}" has not what ${digest} stands for, so nothing was accepted: "sentinel mcp list" shows what it has now, and its digest.`,
    );
  const { tools, changes } = accepted;
  output.object({ ok: true, server, tools: tools.map(({ name }) => name), changes });
  for (const line of changeLines(changes, output.paint)) output.line(line);
  const commands = tools.map(({ name }) => `mcp/${server}/${name}`).join(', ');
  output.line(`${output.paint.good('✔')} accepted: ${commands === '' ? 'it has no tools' : commands}`);
}

/** `asks`: what is accepted is trusted as well. */
async function serversOf({ project: folder }: Options, output: Output, asks = false): Promise<Inspected> {
  const project = projectFolder(folder);
  const [{ projectConfig }, { readConfig }] = await Promise.all([
    import('../request/project-config.ts'),
    import('../../services/config/config.ts'),
  ]);
  const { config, commands } = await projectConfig(project, output, asks);
  if (config === null) for (const notice of commands.notices) output.note(`sentinel: ${notice}`);
  return { home: readConfig().home, project, servers: config?.mcpServers ?? {} };
}

function defineServe(command: Command): void {
  command
    .description(
      'Serves saved sentinels, runs, the inbox and answers as MCP tools and resources on stdin and stdout, until the client disconnects. Answers are signed mcp:PROGRAM; answers that let a run act are refused unless --allow-approve is given.',
    )
    .option('--project <dir>', 'the folder that the runs work in', '.')
    .addOption(speakerOption('--persona <id>', 'owner of the runs'))
    .option('--host <name>', 'run on the workers of this host: the task queue sentinel@NAME')
    .addOption(policyOption('rules about the actions of its runs'))
    .option('--allow-approve', 'also accept the answers "approve", "edit", "retry" and "extend"')
    .addHelpText(
      'after',
      `
Examples:
  sentinel mcp serve
  sentinel mcp serve --policy careful.json
  sentinel mcp serve --project ~/work/site --allow-approve`,
    )
    .action(async (_options: unknown, self: Command) => {
      await serveOn(self.optsWithGlobals<ServeOptions>());
    });
}

interface ServeOptions extends Options {
  persona?: string;
  host?: string;
  policy?: string;
  allowApprove?: boolean;
}

async function serveOn(options: ServeOptions): Promise<void> {
  // Messages go to stderr: stdout belongs to the protocol.
  const output = openOutput({ json: false });
  const project = projectFolder(options.project);
  const chosen = policyGiven(options.policy);
  const [{ projectConfig }, { withClient }, { serve }, { StdioServerTransport }, { ExactLines }] = await Promise.all([
    import('../request/project-config.ts'),
    import('../request/with-client.ts'),
    import('../../client/mcp/serve.ts'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('../../language/numbers/exact-lines.ts'),
  ]);
  const { config, env } = await projectConfig(project, output);
  const personaFor = (owner?: string): string => speakerOf({ said: options.persona, owner, config });
  const { host = config?.defaults.host } = options;
  const lines = new ExactLines('nearest');
  const exact = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, lines.push(chunk)),
  });
  const transport = new StdioServerTransport(process.stdin.pipe(exact));
  process.stdin.once('end', () => void transport.close());
  await withClient(
    output,
    (client) =>
      serve(
        { client, project, personaFor, allowApprove: options.allowApprove === true, ...chosen, ...defined({ host }) },
        transport,
      ),
    env,
  );
}
