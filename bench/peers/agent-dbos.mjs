// An agent as a DBOS workflow: each turn and each call is a step. `measure`, or `run` and `resume` of one.
import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { askModel, measure, modelOf, perform, promptOf, say } from './agent.mjs';
import { urlOf } from './database-url.mjs';

const [mode, given] = process.argv.slice(2);
const database = `bench_dbos_${mode === 'measure' ? 'agents' : 'kills'}`;
const systemDatabaseUrl = urlOf(database);
DBOS.setConfig({ name: 'sentinel-bench', systemDatabaseUrl, logLevel: 'error' });
const agent = DBOS.registerWorkflow(
  async (spec) => {
    const messages = [{ role: 'user', content: promptOf(spec.token) }];
    for (;;) {
      const { message, call } = await DBOS.runStep(() => askModel(modelOf(spec), messages), { name: 'turn' });
      messages.push(message);
      if (call === null) return;
      const content = await DBOS.runStep(() => perform(call), { name: 'call' });
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  },
  { name: 'agent' },
);
await DBOS.launch();

const spec = JSON.parse(given);
if (mode === 'measure') {
  const pool = new pg.Pool({ connectionString: systemDatabaseUrl, max: 1 });
  const stored = async () =>
    Number((await pool.query('select pg_database_size(current_database()) as size')).rows[0].size);
  const run = async (one) => (await DBOS.startWorkflow(agent)(one)).getResult();
  say(await measure({ run, stored }, spec));
  await pool.end();
} else {
  // Launching recovers what was under way.
  const handle =
    mode === 'run'
      ? await DBOS.startWorkflow(agent, { workflowID: spec.token })(spec)
      : await DBOS.retrieveWorkflow(spec.token);
  say({ begun: true });
  await handle.getResult();
}
await DBOS.shutdown();
process.exit(0);
