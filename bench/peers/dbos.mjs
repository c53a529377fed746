// Steps one after the other or side by side, and an agent, as DBOS workflows: each step, each turn and each call is a
// step of DBOS. `serve`, or `run` and `resume` of one agent.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { askModel, modelOf, performCall, promptOf, say } from './agent.mjs';
import { urlOf } from './database-url.mjs';
import { serve } from './serve.mjs';
import { perform } from './steps.mjs';

const [mode, given = 'null'] = process.argv.slice(2);
const systemDatabaseUrl = urlOf(mode === 'serve' ? 'bench_dbos' : 'bench_dbos_kills');
DBOS.setConfig({ name: 'sentinel-bench', systemDatabaseUrl, logLevel: 'error' });
const steps = DBOS.registerWorkflow(
  async ({ kind, shape, count }) => {
    const step = (index) => DBOS.runStep(() => perform[kind](index), { name: kind });
    if (shape === 'fan') await Promise.all(Array.from({ length: count }, (_, index) => step(index)));
    else for (let index = 0; index < count; index += 1) await step(index);
  },
  { name: 'steps' },
);
const agent = DBOS.registerWorkflow(
  async (spec) => {
    const messages = [{ role: 'user', content: promptOf(spec.token) }];
    for (;;) {
      const { message, call } = await DBOS.runStep(() => askModel(modelOf(spec), messages), { name: 'turn' });
      messages.push(message);
      if (call === null) return;
      const content = await DBOS.runStep(() => performCall(call), { name: 'call' });
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  },
  { name: 'agent' },
);
await DBOS.launch();

if (mode === 'serve') {
  serve(async (work) => {
    const handle = work.agent
      ? await DBOS.startWorkflow(agent)(work.agent)
      : await DBOS.startWorkflow(steps)(work.steps);
    await handle.getResult();
  });
} else {
  const spec = JSON.parse(given);
  // Launching recovers what was under way.
  const handle =
    mode === 'run'
      ? await DBOS.startWorkflow(agent, { workflowID: spec.token })(spec)
      : await DBOS.retrieveWorkflow(spec.token);
  say({ begun: true });
  await handle.getResult();
  await DBOS.shutdown();
  process.exit(0);
}
