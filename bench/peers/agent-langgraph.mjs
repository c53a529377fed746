// An agent as a LangGraph graph with a checkpoint in Postgres after each node. `measure`, or `run` and `resume` of one.
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { askModel, measure, modelOf, perform, promptOf, say } from './agent.mjs';
import { urlOf } from './database-url.mjs';

const [mode, given] = process.argv.slice(2);
const base = process.env.BENCH_DATABASE_URL;
const database = `bench_langgraph_${mode === 'measure' ? 'agents' : 'kills'}`;
const admin = new pg.Pool({ connectionString: base, max: 1 });
await admin.query(`create database ${database}`).catch(() => undefined);
await admin.end();
const pool = new pg.Pool({ connectionString: urlOf(database), max: 10 });
const saver = new PostgresSaver(pool);
await saver.setup();

const State = Annotation.Root({
  spec: Annotation({ reducer: (_before, after) => after }),
  messages: Annotation({ reducer: (before, after) => before.concat(after), default: () => [] }),
  call: Annotation({ reducer: (_before, after) => after, default: () => null }),
});
const graph = new StateGraph(State)
  .addNode('turn', async ({ spec, messages }) => {
    const { message, call } = await askModel(modelOf(spec), messages);
    return { messages: [message], call };
  })
  .addNode('calls', async ({ call }) => ({
    messages: [{ role: 'tool', tool_call_id: call.id, content: await perform(call) }],
    call: null,
  }))
  .addEdge(START, 'turn')
  .addConditionalEdges('turn', ({ call }) => (call === null ? END : 'calls'))
  .addEdge('calls', 'turn')
  .compile({ checkpointer: saver });

const run = (spec) =>
  graph.invoke(
    { spec, messages: [{ role: 'user', content: promptOf(spec.token) }] },
    { configurable: { thread_id: spec.token }, recursionLimit: 1000 },
  );
const spec = JSON.parse(given);
if (mode === 'measure') {
  const stored = async () =>
    Number((await pool.query('select pg_database_size(current_database()) as size')).rows[0].size);
  say(await measure({ run, stored }, spec));
} else {
  const going =
    mode === 'run' ? run(spec) : graph.invoke(null, { configurable: { thread_id: spec.token }, recursionLimit: 1000 });
  say({ begun: true });
  await going;
}
await pool.end();
process.exit(0);
