/** What a model says reaches those who follow its run while it does, in few rows, and a turn that is tried again says so. */
import { spawn, type ChildProcess } from 'node:child_process';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { once } from '../harness/definitions.ts';
import { CLI, Harness, until } from '../harness/harness.ts';
import { beginsToSay, callsTo, ModelDouble, MODEL, says } from '../harness/models/model-double.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let model: ModelDouble;
let worker: WorkerProcess;
beforeAll(async () => {
  model = await new ModelDouble().open();
  harness = await Harness.open();
  worker = await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
});
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
beforeEach(() => model.double.forget());

interface Following {
  out: string;
  ended: Promise<number | null>;
}

function following(...args: string[]): Following {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: harness.project,
    env: { ...process.env, ...harness.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const state: Following = { out: '', ended: new Promise((resolve) => child.on('close', resolve)) };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (state.out += text));
  return state;
}

const valuesIn = (out: string): { [name: string]: unknown }[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { [name: string]: unknown });

test('answers and calls are seen as they come, by everybody who follows, and once', async () => {
  const words = Array.from({ length: 400 }, (_, nth) => `word${nth} `);
  model.next(callsTo('1', 'code_read', { path: 'nowhere' }), beginsToSay('First line.\n', ...words));
  const handle = await harness.start(
    once('live', [{ type: 'llm', model: MODEL, prompt: 'Look', tools: ['code/read'], outputTo: 'answer' }]),
  );
  const [people, programs, log] = [
    following('follow', handle),
    following('follow', handle, '--json'),
    following('logs', handle, '--follow'),
  ];
  await until(() =>
    [people, programs, log].every(({ out }) => out.includes('First line.') && out.includes('word100 ')),
  );
  expect(model.turns).toHaveLength(2);
  // The turn has not ended: what it said so far is in few rows.
  const rows = await chunksOf(handle);
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThan(10);
  model.next(says('First line.\nAnd the last.'));
  await worker.kill9();
  worker = await harness.startWorker(model.env);
  await harness.result(handle);
  await Promise.all([people, programs, log].map(({ ended }) => ended));
  const call = '→ code/read {"path":"nowhere"}';
  const again = '↻ turn 2 is tried again; what it had said before does not count';
  for (const { out } of [people, log]) {
    const at = [call, 'First line.', 'word100 ', again, 'And the last.'].map((part) => out.indexOf(part));
    expect(
      at.every((place) => place !== -1),
      out,
    ).toBe(true);
    expect(at.toSorted((a, b) => a - b)).toEqual(at);
  }
  expect(people.out).toContain(`▸ steps.0@1/turn.1\n    │ ${call}\n`);
  expect(people.out.indexOf(call)).toBeLessThan(people.out.indexOf('✖ steps.0@1/turn.1/call.0'));
  const said = valuesIn(programs.out).filter(({ type }) => type === 'said');
  expect(said[0]).toEqual({
    type: 'said',
    handle,
    key: 'steps.0@1/turn.1',
    stream: 'calls',
    attempt: 1,
    text: 'code/read {"path":"nowhere"}\n',
    droppedBytes: 0,
  });
  const answers = said.filter(({ stream }) => stream === 'answer');
  const textOf = (attempt: number): string =>
    answers.flatMap((one) => (one['attempt'] === attempt ? [one['text']] : [])).join('');
  expect(textOf(1)).toBe(`First line.\n${words.join('')}`);
  expect(textOf(2)).toBe('First line.\nAnd the last.\n');
  // Whoever comes later sees it between the same events.
  const later = await harness.command('follow', handle);
  expect(later.out.indexOf(call)).toBeGreaterThan(-1);
  expect(later.out.indexOf(call)).toBeLessThan(later.out.indexOf('✖ steps.0@1/turn.1/call.0'));
  expect(later.out.indexOf('✖ steps.0@1/turn.1/call.0')).toBeLessThan(later.out.indexOf('And the last.'));
  expect(later.out.indexOf('And the last.')).toBeLessThan(later.out.indexOf('✔ steps.0@1'));
  expect(later.out).not.toContain('word100 ');
});

/** Rows of the run's log. */
async function chunksOf(handle: string): Promise<number> {
  const client = new Client({ connectionString: harness.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ rows: number }>(
      'select count(*)::int as rows from log_chunks where handle = $1',
      [handle],
    );
    return rows[0]?.rows ?? 0;
  } finally {
    await client.end();
  }
}

test('secrets are masked, and what would write to the terminal is escaped', async () => {
  process.env['MODEL_TEST_TOKEN'] = 'hunter2-hunter2';
  try {
    model.next(says('It is hunter2', '-hunter2, \u001B[2J\r', 'and more.'));
    const handle = await harness.start(
      once('masked', [{ type: 'llm', model: MODEL, prompt: 'Say it', outputTo: 'answer' }], {
        env: ['MODEL_TEST_TOKEN'],
      }),
    );
    await harness.result(handle);
    for (const args of [
      ['follow', handle],
      ['follow', handle, '--json'],
      ['logs', handle],
      ['logs', handle, '--follow'],
    ]) {
      const { out } = await harness.command(...args);
      const saying = out
        .split('\n')
        .filter((line) => /It is/.test(line) && !/answer: |"outputs"|"run-finished"|preview/.test(line));
      expect(saying.join('\n'), args.join(' ')).toContain('It is [env MODEL_TEST_TOKEN], ');
      expect(saying.join('\n'), args.join(' ')).not.toContain('hunter2');
      expect(out).not.toContain('\u001B');
    }
  } finally {
    delete process.env['MODEL_TEST_TOKEN'];
  }
});
