// Steps one after the other or side by side, and an agent, as LangGraph graphs: each step, each turn and each call is a
// node, and its checkpoint is in Postgres before the next one begins. `serve`, or `run` and `resume` of one agent.
import { randomUUID } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { askModel, modelOf, performCall, promptOf, say } from './agent.mjs';
import { urlOf } from './database-url.mjs';
import { serve } from './serve.mjs';
import { perform } from './steps.mjs';

const [mode, given = 'null'] = process.argv.slice(2);
const database = mode === 'serve' ? 'bench_langgraph' : 'bench_langgraph_kills';
const admin = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, max: 1 });
await admin.query(`create database ${database}`).catch(() => undefined);
await admin.end();
const saver = new PostgresSaver(new pg.Pool({ connectionString: urlOf(database), max: 10 }));
await saver.setup();

const appended = (empty) => Annotation({ reducer: (before, after) => before.concat(after), default: empty });
const last = () => Annotation({ reducer: (_before, after) => after, default: () => null });
const Conversation = Annotation.Root({ spec: last(), messages: appended(() => []), call: last() });
const agent = new StateGraph(Conversation)
  .addNode('turn', async ({ spec, messages }) => {
    const { message, call } = await askModel(modelOf(spec), messages);
    return { messages: [message], call };
  })
  .addNode('calls', async ({ call }) => ({
    messages: [{ role: 'tool', tool_call_id: call.id, content: await performCall(call) }],
    call: null,
  }))
  .addEdge(START, 'turn')
  .addConditionalEdges('turn', ({ call }) => (call === null ? END : 'calls'))
  .addEdge('calls', 'turn')
  .compile({ checkpointer: saver });

const graphs = new Map();
function graphOf({ kind, shape, count }) {
  const name = `${kind} ${shape} ${count}`;
  const known = graphs.get(name);
  if (known !== undefined) return known;
  const graph = new StateGraph(Annotation.Root({ done: appended(() => []) }));
  const indexes = Array.from({ length: count }, (_, index) => index);
  for (const index of indexes) graph.addNode(`step-${index}`, async () => ({ done: [await perform[kind](index)] }));
  for (const index of indexes) {
    graph.addEdge(index === 0 || shape === 'fan' ? START : `step-${index - 1}`, `step-${index}`);
    if (index === count - 1 || shape === 'fan') graph.addEdge(`step-${index}`, END);
  }
  const compiled = graph.compile({ checkpointer: saver });
  graphs.set(name, compiled);
  return compiled;
}

const thread = (id) => ({ configurable: { thread_id: id }, recursionLimit: 1000, durability: 'sync' });
const start = (spec, id) =>
  agent.invoke({ spec, messages: [{ role: 'user', content: promptOf(spec.token) }] }, thread(id));

if (mode === 'serve') {
  serve((work) =>
    work.agent ? start(work.agent, randomUUID()) : graphOf(work.steps).invoke({ done: [] }, thread(randomUUID())),
  );
} else {
  const spec = JSON.parse(given);
  const going = mode === 'run' ? start(spec, spec.token) : agent.invoke(null, thread(spec.token));
  say({ begun: true });
  await going;
  process.exit(0);
}
