/** Whom a question asks holds at every door alike: the client, the command line, an agent's server, the step of a run. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Step } from '../../../language/model.ts';
import { once } from '../harness/definitions.ts';
import { CLI, Harness, until } from '../harness/harness.ts';

let harness: Harness;
let client: SentinelClient;
/** Agents of eve and of ada, whose server lets runs act, and one of ada whose server does not. */
const agents: { [name: string]: Client } = {};
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  client = new SentinelClient({ env: harness.env });
  await client.execute('persona/member', { groupId: 'ops', personaId: 'bob' }, { by: 'ada' });
  await client.execute('persona/delegate', { personaId: 'grace', to: 'dora' }, { by: 'grace' });
  await client.execute('persona/create', { personaId: 'helper-ai' }, { by: 'ada' });
  await client.execute('persona/grant', { personaId: 'helper-ai', may: 'approve:step' }, { by: 'ada' });
  agents['eve'] = await agentOf('eve', '--allow-approve');
  agents['ada'] = await agentOf('ada', '--allow-approve');
  agents['careful'] = await agentOf('ada');
});
afterAll(async () => {
  await Promise.all(Object.values(agents).map((agent) => agent.close()));
  await client.close();
  await harness.close();
});

async function agentOf(user: string, ...options: string[]): Promise<Client> {
  const agent = new Client({ name: 'editor', version: '1.0.0' });
  const { PATH = '' } = process.env;
  const env = { PATH, ...harness.env, USER: user, SENTINEL_TRUST: 'all' };
  const args = [CLI, 'mcp', 'serve', ...options];
  await agent.connect(new StdioClientTransport({ command: process.execPath, args, cwd: harness.project, env }));
  return agent;
}

const id = 'steps.0@1';

type Whom = Partial<Extract<Step, { type: 'approval' }>>;

async function ask(handle: string, whom: Whom, persona = 'tester'): Promise<void> {
  const asks = once(handle, [{ type: 'approval', message: 'Go on?', outputTo: 'said', ...whom }]);
  await harness.start(asks, { handle, persona });
  await until(async () => (await harness.store.inbox.open(handle)).includes(id));
}

/** What the door says, empty where the answer is taken; `isNew`: nobody gave it before. */
interface Said {
  refused: string;
  isNew: boolean;
}
type Door = (handle: string, by: string) => Promise<Said>;

const bySdk =
  (as: 'person' | 'agent'): Door =>
  (handle, by) =>
    client
      .answer(handle, { id, choice: 'approve', ...(as === 'agent' ? { by: 'mcp:x', as, person: by } : { by }) })
      .then(({ already }) => ({ refused: '', isNew: !already }))
      .catch((error: { code?: string; message: string }) => ({
        refused: `${error.code ?? ''}: ${error.message}`,
        isNew: false,
      }));

const byLine: Door = async (handle, by) => {
  const { out } = await harness.command('answer', handle, id, 'approve', '--by', by, '--json');
  const said = JSON.parse(out) as { ok: boolean; already?: boolean; error?: { code: string; message: string } };
  const { code = '', message = '' } = said.error ?? {};
  return said.ok ? { refused: '', isNew: said.already === false } : { refused: `${code}: ${message}`, isNew: false };
};

const byAgent =
  (name?: string): Door =>
  async (handle, by) => {
    const agent = agents[name ?? by];
    if (agent === undefined) throw new Error(`${by} has no agent here`);
    const given = { handle, id, choice: 'approve' };
    const { isError, content, structuredContent } = (await agent.callTool({
      name: 'answer',
      arguments: given,
    })) as CallToolResult;
    const refused = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return isError === true
      ? { refused, isNew: false }
      : { refused: '', isNew: (structuredContent as { already?: boolean }).already === false };
  };

let count = 0;
/** A step of a run of the persona. */
const byStep: Door = async (handle, by) => {
  const name = `answers-${(count += 1)}`;
  const params = { handle, question: id, choice: 'approve' };
  const step: Step = { type: 'command', command: 'sentinel/answer', params, outputTo: 'said' };
  await harness.start(once(name, [step]), { handle: name, persona: by });
  const { outcome, failure, outputs } = await harness.result(name);
  return outcome === 'completed'
    ? { refused: '', isNew: !(outputs['said'] as { already: boolean }).already }
    : { refused: `${failure?.code ?? ''}: ${failure?.message ?? ''}`, isNew: false };
};

const PERSONS: [string, Door][] = [
  ['the client', bySdk('person')],
  ['an agent, through the client', bySdk('agent')],
  ['the command line', byLine],
  ["an agent's server", byAgent()],
];

const QUESTIONS: [string, Whom, string][] = [
  ['a person', { assignee: 'ada' }, 'asks ada'],
  ['a group', { assignee: 'ops' }, 'asks ops'],
  ['who delegates', { assignee: 'grace' }, 'asks grace'],
  ['a model', { assignee: 'helper-ai' }, 'asks helper-ai'],
  ['several', { approvers: { of: ['ada', 'ops'], atLeast: 2 } }, 'asks ada, ops (2 of them)'],
];

test('whoever is not asked is refused in the same words at every door, and the question stays open', async () => {
  for (const [about, whom, asks] of QUESTIONS) {
    const handle = `asks-${about.replaceAll(' ', '-')}`;
    await ask(handle, whom);
    const words = `"${id}" of ${handle} ${asks}, and "eve" does not answer for them`;
    for (const [door, answer] of PERSONS) {
      const said = await answer(handle, 'eve');
      expect({ about, door, refused: said.refused }).toMatchObject({
        refused: expect.stringContaining(words) as string,
      });
      // To an agent the words are all that is said.
      if (door !== "an agent's server") expect(said.refused).toMatch(/^ANSWER_REFUSED: /);
    }
    // A model answers for nobody, whatever it was granted, and neither does the run of a person who is asked.
    for (const by of ['helper-ai', 'ada', 'bob']) {
      const { refused } = await byStep(handle, by);
      expect({ about, by, refused }).toMatchObject({
        refused: expect.stringMatching(/^RIGHTS_EXCEEDED: .*sentinel answer /) as string,
      });
    }
    const careful = await byAgent('careful')(handle, 'ada');
    expect(careful.refused).toContain('lets a run act, which is a person');
    expect(await harness.store.inbox.open(handle)).toEqual([id]);
  }
});

// A command line is a process that has to begin first: it comes last, and finds the answer given.
test('of doors that race one answer is taken, also by one that comes late, and one person is one of two', async () => {
  await ask('raced-doors', { assignee: 'ada' });
  const both = await Promise.all(PERSONS.map(([, answer]) => answer('raced-doors', 'ada')));
  expect(both.map(({ refused }) => refused)).toEqual(['', '', '', '']);
  expect(both.filter(({ isNew }) => isNew)).toHaveLength(1);

  await ask('two-doors', { approvers: { of: ['ada', 'ops'], atLeast: 2 } });
  const ofAda = await Promise.all(PERSONS.map(([, answer]) => answer('two-doors', 'ada')));
  // She is refused nowhere: her second approval counts no more, and is no new one.
  expect(ofAda.map(({ refused }) => refused)).toEqual(['', '', '', '']);
  expect(ofAda.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(await harness.store.inbox.open('two-doors')).toEqual([id]);
  expect(await byLine('two-doors', 'bob')).toEqual({ refused: '', isNew: true });
  for (const handle of ['raced-doors', 'two-doors']) {
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
    expect((await harness.events(handle)).filter(({ type }) => type === 'answered')).toHaveLength(1);
  }
});
