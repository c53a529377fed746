/** A program that holds a local model as a worker does, says the process id of the model, and goes on. */
import { join } from 'node:path';
import { ModelHost } from '../../../world/models/local/model-host.ts';
import { TURN_LIMITS } from '../../../world/models/port/turn.ts';

const [file = ''] = process.argv.slice(2);
const program = {
  path: join(import.meta.dirname, '..', '..', '..', 'world', 'models', 'local', 'model-process.ts'),
  execArgv: ['--import', 'jiti/register'],
};
const host = new ModelHost({ program, threads: 2, restMs: 600_000 });
await host.take(file, {
  asked: {
    type: 'turn',
    turn: {
      adapters: [],
      system: null,
      messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Hi.' }] }],
      tools: [],
      schema: null,
      temperature: null,
      maxTokens: 2,
      thinking: null,
      stop: [],
      window: 512,
    },
  },
  signal: new AbortController().signal,
  limits: TURN_LIMITS,
  hear: () => undefined,
});
process.stdout.write(`model ${host.processes().get(file) ?? 0}\n`);
setInterval(() => undefined, 60_000);
