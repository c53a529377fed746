/** `sentinel mcp list` and `accept` as typed, with a real server on stdio. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Tracker } from '../../activities/mcp/tracker.ts';
import { buildCli, type BuiltCli, type Finished } from './built-cli.ts';

let cli: BuiltCli;
let project: string;
let tracker: Tracker;
beforeAll(async () => {
  cli = await buildCli();
  project = join(cli.folder, 'site');
  mkdirSync(project);
  tracker = new Tracker(project);
  const servers = {
    tracker: { command: process.execPath, args: tracker.args },
    broken: { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(1)'] },
  };
  writeFileSync(join(project, 'sentinel.config.mjs'), `export default { mcpServers: ${JSON.stringify(servers)} };`);
  const step = { type: 'command', command: 'mcp/tracker/ticket', params: { id: 7 } };
  writeFileSync(join(project, 'use.json'), JSON.stringify({ name: 'use', steps: [step], loop: { type: 'once' } }));
});
afterAll(() => cli.remove());

async function digestOf(server: string): Promise<string> {
  const reports = JSON.parse((await mcp('list', '--json')).stdout) as { server: string; digest: string | null }[];
  return reports.find((report) => report.server === server)?.digest ?? '';
}

const mcp = (...args: string[]): Promise<Finished> => cli.run(['mcp', ...args], { cwd: project });

test('what was never accepted is shown, and is no command', async () => {
  const { code, stdout } = await mcp('list');
  expect(code).toBe(1);
  expect(stdout).toContain('⚠ tracker  never accepted; "sentinel mcp accept tracker ');
  expect(stdout).toMatch(/^ {2}\+ ticket {2}new$/m);
  expect(stdout).toMatch(/✖ broken {2}the MCP server "broken" cannot be reached .*it said: no licence/);
  const refused = await cli.run(['validate', 'use.json'], { cwd: project });
  expect(refused).toMatchObject({ code: 2, stdout: expect.stringContaining('UNKNOWN_COMMAND') as string });
  expect(refused.stderr).toContain('the tools of the MCP server "tracker" have not been accepted');
});

test('once accepted they are commands, and reading a definition starts no server', async () => {
  const accepted = await mcp('accept', 'tracker', await digestOf('tracker'), '--json');
  expect(accepted.code).toBe(0);
  expect(JSON.parse(accepted.stdout)).toMatchObject({
    ok: true,
    server: 'tracker',
    tools: expect.arrayContaining(['ticket']) as string[],
  });
  const kept = join(cli.folder, 'home', 'mcp.json');
  expect(statSync(kept).mode & 0o077).toBe(0);
  expect(readFileSync(kept, 'utf8')).toContain('Reads a ticket.');
  const begun = tracker.processes.length;
  const read = await cli.run(['validate', 'use.json', '--json'], { cwd: project });
  expect(JSON.parse(read.stdout)).toMatchObject({ problems: [{ code: 'WRONG_TYPE', path: 'steps.0.params.id' }] });
  const elsewhere = await cli.run(['validate', join(project, 'use.json'), '--project', project], { cwd: cli.folder });
  expect(elsewhere.stdout).toContain('WRONG_TYPE');
  expect(tracker.processes).toHaveLength(begun);
  expect((await mcp('list')).stdout).toContain('✔ tracker  ticket, ');
});

test('what changed is shown as a diff', async () => {
  tracker.says('Reads a ticket, and your mail.');
  const { code, stdout } = await mcp('list', '--json');
  expect(code).toBe(1);
  const [report] = (JSON.parse(stdout) as { server: string; state: string; changes: unknown[] }[]).filter(
    ({ server }) => server === 'tracker',
  );
  expect(report).toMatchObject({
    state: 'held',
    changes: [
      {
        tool: 'ticket',
        change: 'changed',
        diff: expect.arrayContaining([
          '-  "description": "Reads a ticket.",',
          '+  "description": "Reads a ticket, and your mail.",',
        ]) as string[],
      },
    ],
  });
});

test.each([
  [['accept', 'broken', '0000'], 1, 'cannot be reached'],
  [['accept', 'tracker'], 2, 'digest'],
  [['accept', 'traker', '0000'], 2, 'write "tracker", or see "sentinel mcp list"'],
  [['accpt'], 2, 'write "accept"'],
])('%s ends with %i', async (args, code, text) => {
  const said = await mcp(...args);
  expect(said.code).toBe(code);
  expect(said.stderr).toContain(text);
});

test('a project without any says so', async () => {
  expect(await cli.run(['mcp', 'list'])).toMatchObject({
    code: 0,
    stdout: 'No MCP servers are configured ("mcpServers" in sentinel.config).\n',
  });
});
