/** A system whose commands start runs, speak to them, ask models and start processes, as somebody writes it from the documentation alone. */
export const CREW = `
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, defineSystem, z } from 'sentinel-engine/commands';

const asking = {
  name: 'asks-plainly',
  loop: { type: 'once' },
  steps: [
    {
      type: 'approval', message: 'How deep?', outputTo: 'verdict',
      form: { type: 'object', properties: { depth: { type: 'string' } }, required: ['depth'] },
    },
    { type: 'shell', command: 'echo "$depth"', env: { depth: '$verdict.data.depth' }, outputTo: 'shown' },
  ],
};

/** A model that is at work for as long as its call takes. */
const looking = {
  name: 'looks',
  loop: { type: 'once' },
  steps: [{ type: 'llm', model: 'openai/some-model', prompt: 'Look', tools: ['code/shell/execute'], onUnknown: 'retry' }],
};

const Tried = z.strictObject({ what: z.string(), handle: z.string().default(''), question: z.string().default('') });

/** Each word, as a command says it that may not. */
const tries = async ({ what, handle, question }, { runs, ask, spawn, call, key }) => {
  switch (what) {
    case 'spawn': return spawn('touch acted');
    case 'start': return runs.start({ command: 'touch acted' });
    case 'ask': return (await ask('Anything?')).text;
    case 'call ask': return call('ai/generate', { prompt: 'Anything?' });
    case 'stop': return runs.stop(handle);
    case 'edit': return runs.edit(handle, { op: 'remove', index: 1 });
    case 'tell': return runs.tell(handle, 'do as I say');
    case 'approve': return runs.answer(handle, question, { choice: 'approve' });
    case 'reject': return runs.answer(handle, question, { choice: 'reject' });
    case 'cancels': return runs.result(handle, { cancels: true });
    case 'itself': return runs.result(key.split('/')[0]);
    case 'standing': return runs.result(handle, { timeoutMs: 100 });
    default: throw new Error('nothing is tried');
  }
};

const trying = (name, rest) => defineCommand({ name, params: Tried, result: z.any(), run: tries, ...rest });

export const crew = defineSystem({
  name: 'crew',
  summary: 'work that is handed to others',
  commands: [
    defineCommand({
      name: 'crew/review',
      description: 'Has a topic reviewed.',
      permission: 'shell',
      uses: { runs: 1, models: true },
      params: z.strictObject({ topic: z.string() }),
      result: z.any(),
      async run({ topic }, { runs, ask, spawn }) {
        const { handle } = await runs.start({ definition: asking });
        const { questions: [question] } = await runs.result(handle, { until: 'asked', cancels: true });
        const answered = await runs.answer(handle, question.id, { choice: 'approve', data: { depth: topic } });
        const again = await runs.answer(handle, question.id, { choice: 'reject' });
        const standing = await runs.result(handle, { cancels: true });
        const ended = await spawn('echo', { args: ['spawned for', topic] });
        const { text, model } = await ask({ prompt: 'Sum up ' + topic, system: 'Be brief.', model: 'openai/some-model' });
        return { handle, question, answered, again, standing, stdout: ended.stdout, text, model };
      },
    }),
    defineCommand({
      name: 'crew/advise',
      permission: 'write',
      params: z.strictObject({ handle: z.string(), text: z.string() }),
      result: z.any(),
      run: ({ handle, text }, { runs }) => runs.tell(handle, text),
    }),
    defineCommand({
      name: 'crew/many',
      permission: 'shell',
      uses: { runs: 2 },
      params: z.strictObject({ count: z.number() }),
      result: z.any(),
      async run({ count }, { runs }) {
        const handles = [];
        for (let n = 0; n < count; n += 1) handles.push((await runs.start({ command: 'echo ' + n })).handle);
        return handles;
      },
    }),
    defineCommand({
      name: 'crew/process',
      permission: 'shell',
      params: z.strictObject({ how: z.enum(['abort', 'leave', 'wait', 'both', 'fails']), name: z.string(), line: z.string().default('') }),
      result: z.any(),
      async run({ how, name, line }, { spawn, log }) {
        const ticks = 'while true; do echo $$ >> ' + name + '; sleep 0.05; done';
        if (how === 'both') {
          const ends = await Promise.all([spawn('echo one; sleep 0.3; echo two'), spawn('echo "' + line + '" >&2; exit 3')]);
          log('both have ended');
          return ends.map(({ exitCode, stdout }) => ({ exitCode, stdout }));
        }
        if (how === 'wait') return (await spawn(ticks)).exitCode;
        if (how === 'abort') {
          const signal = AbortSignal.timeout(500);
          return spawn(ticks, { signal }).then(() => 'ended', (error) => error.name);
        }
        void spawn(ticks).catch(() => undefined);
        await sleep(500);
        if (how === 'fails') throw new Error('no luck');
        return 'left';
      },
    }),
    defineCommand({
      name: 'crew/slow',
      permission: 'shell',
      uses: { runs: 1, models: true },
      timeoutMs: 120_000,
      params: z.strictObject({ advised: z.boolean().default(false), name: z.string().default('ticks') }),
      result: z.any(),
      async run({ advised, name }, { runs, ask, spawn, attempt, project }) {
        const { handle } = await runs.start(advised ? { definition: looking } : { command: 'until [ -e go ]; do sleep 0.05; done' });
        while (advised && !existsSync(join(project, 'begun'))) await sleep(50);
        if (advised) await runs.tell(handle, 'told by the crew');
        const { text } = await ask({ prompt: 'What now?', model: 'openai/some-model' });
        const ticking = spawn('until [ -e go ]; do echo $$ >> ' + name + '; sleep 0.05; done; echo ticked');
        appendFileSync(join(project, 'attempts'), attempt + ' ' + handle + '\\n');
        const standing = await runs.result(handle, { cancels: true });
        return { attempt, text, outcome: standing.outcome, output: (await ticking).stdout };
      },
    }),
    trying('crew/quick', { permission: 'write', speed: 'quick' }),
    trying('crew/reads', { permission: 'read' }),
    trying('crew/writes', { permission: 'write' }),
    trying('crew/shells', { permission: 'shell' }),
  ],
});
`;

export const CREW_CONFIG = `
import { crew } from './crew.ts';

export default { systems: [{ system: crew, may: ['read', 'write', 'shell', 'network'] }] };
`;
