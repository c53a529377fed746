/** The contract of a model provider, held by a real model in a process of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync, copyFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hashOfFile } from '../../../world/models/local/file-hash.ts';
import { describeFile, localProvider } from '../../../world/models/local/local.ts';
import { ModelHost } from '../../../world/models/local/model-host.ts';
import { LocalModels } from '../../../world/models/local/registry.ts';
import { isTransient } from '../../../world/models/port/turn-failure.ts';
import type { Delta, TurnRequest, TurnResult } from '../../../world/models/port/turn.ts';
import type { Provider } from '../../../world/models/provider/provider.ts';
import { takeTurn } from '../../../world/models/provider/take-turn.ts';
import { factsOf } from '../../../world/models/records/table.ts';
import type { JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import { root } from '../../project/tree.ts';
import { failureOf, replyOf, TOOLS, type TurnParts } from '../harness/turns.ts';
import { writeAdapter } from './gguf-adapter.ts';
import { pidOf } from '../../pids.ts';

const small = inject('smallModel');
const modelPath = 'path' in small ? small.path : '';
const why = 'path' in small ? '' : ` (skipped: no small model: ${small.missing})`;

const program = {
  path: join(root, 'world', 'models', 'local', 'model-process.ts'),
  execArgv: ['--import', 'jiti/register'],
};

const ask = (text: string): TurnRequest['messages'] => [{ role: 'user', blocks: [{ type: 'text', text }] }];

const textOf = async (result: Promise<TurnResult>): Promise<string> =>
  (await replyOf(result)).blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');

describe.skipIf('missing' in small)(`a local model${why}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-local-'));
  const host = new ModelHost({ program, threads: 2, restMs: 60_000 });
  const models = new LocalModels(join(folder, 'models.json'));
  let provider: Provider;

  beforeAll(() => {
    models.add('small', modelPath);
    provider = localProvider({ name: 'local', models, host, project: folder });
  });
  afterAll(async () => {
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function turn({
    request,
    limits,
    signal = new AbortController().signal,
    onDelta,
  }: TurnParts = {}): Promise<TurnResult> {
    const asked = { model: 'small', messages: ask('Say hello.'), maxTokens: 12, ...request };
    const facts = factsOf('local', asked.model, { ...(await describeFile(modelPath)), window: 1024 });
    return takeTurn(provider, asked, facts, {
      signal,
      ...defined({ limits, onDelta }),
    });
  }

  test('joined pieces are the text that is kept, and the process stays for the next turn', async () => {
    const heard: Delta[] = [];
    const reply = await replyOf(turn({ onDelta: (delta) => heard.push(delta) }));
    const text = heard.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
    expect(text).not.toBe('');
    expect(heard.length).toBeGreaterThan(2);
    expect(reply.blocks).toEqual([{ type: 'text', text }]);
    expect(reply.usage).toMatchObject({ estimated: false, cacheWrite: 0 });
    expect(reply.usage.output).toBeGreaterThan(2);
    const pid = host.processes().get(modelPath);
    const again = await replyOf(turn());
    expect(host.processes().get(modelPath)).toBe(pid);
    // The same prompt stands in the context still.
    expect(again.usage.cacheRead).toBeGreaterThan(reply.usage.cacheRead);
    expect(again.usage.input + again.usage.cacheRead).toBe(reply.usage.input + reply.usage.cacheRead);
    expect(again.blocks).toEqual(reply.blocks);
  });

  test('an answer ends at its limit, and at a stop sequence', async () => {
    const counted = { messages: ask('Count: one, two, three, four. Write it again.'), maxTokens: 4 };
    expect(await replyOf(turn({ request: counted }))).toMatchObject({ stopReason: 'max-tokens', usage: { output: 4 } });
    const reply = await replyOf(turn({ request: { ...counted, maxTokens: 60, stop: ['e'] } }));
    expect(reply.stopReason).toBe('stop-sequence');
    expect(JSON.stringify(reply.blocks)).not.toContain('e"}]}');
  });

  test('an answer by a schema is of that schema', async () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        mood: { anyOf: [{ const: 'good' }, { const: 'bad' }] },
        scores: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 2, maxItems: 2 },
      },
      required: ['mood', 'scores'],
    };
    const text = await textOf(turn({ request: { messages: ask('How are you?'), schema, maxTokens: 80 } }));
    const value = JSON.parse(text) as { mood: string; scores: unknown[] };
    expect(['good', 'bad']).toContain(value.mood);
    expect(value.scores).toHaveLength(2);
  });

  test('a schema that has no grammar is refused by its place', async () => {
    const schema = { type: 'object', properties: { a: { not: { type: 'string' } } } };
    const failure = await failureOf(turn({ request: { schema } }));
    expect(failure).toMatchObject({ kind: 'unsupported', what: 'schema' });
    expect(failure.message).toContain('schema.properties.a.not');
  });

  test('tools are told to the model, and a conversation with calls goes on', async () => {
    const messages: TurnRequest['messages'] = [
      ...ask('What is in a.txt?'),
      {
        role: 'assistant',
        author: 'local/small',
        blocks: [{ type: 'tool-call', id: 'c1', name: 'code/read', input: { path: 'a.txt' } }],
      },
      {
        role: 'user',
        blocks: [
          { type: 'tool-result', callId: 'c1', content: [{ type: 'text', text: 'forty-two apples' }], isError: false },
        ],
      },
    ];
    const [without, withTools] = [
      await replyOf(turn({ request: { messages: ask('What is in a.txt?') } })),
      await replyOf(turn({ request: { messages: ask('What is in a.txt?'), tools: TOOLS } })),
    ];
    const sent = ({ usage }: typeof without): number => usage.input + usage.cacheRead;
    expect(sent(withTools)).toBeGreaterThan(sent(without) + 40);
    const reply = await replyOf(turn({ request: { messages, tools: TOOLS } }));
    expect(sent(reply)).toBeGreaterThan(sent(withTools));
  });

  test('a conversation that does not fit is a failure with numbers, and nothing of it is dropped', async () => {
    const failure = await failureOf(turn({ request: { messages: ask('word '.repeat(1400)) } }));
    if (failure.kind !== 'context-too-long') throw new Error(`it is ${failure.kind}: ${failure.message}`);
    expect(failure.tokens).toBeGreaterThan(1400);
    expect(failure.window).toBeGreaterThanOrEqual(1024);
    expect(failure.window).toBeLessThan(1400);
  });

  test('an answer that reaches the end of the context says so', async () => {
    const messages = ask(`${'word '.repeat(900)} Now repeat all of that, and go on for ever.`);
    const reply = await replyOf(turn({ request: { messages, maxTokens: 4000 } }));
    expect(['window-full', 'end']).toContain(reply.stopReason);
    expect(reply.usage.input + reply.usage.cacheRead + reply.usage.output).toBeLessThanOrEqual(1024 + 256);
  });

  test('a cancelled turn throws the reason it was given, and the next turn is answered', async () => {
    const cancel = new AbortController();
    const reason = new Error('the run was cancelled');
    const taken = turn({
      signal: cancel.signal,
      request: { messages: ask('Write a long story about a dog.'), maxTokens: 800 },
      onDelta: () => cancel.abort(reason),
    });
    await expect(taken).rejects.toBe(reason);
    expect(await textOf(turn())).not.toBe('');
  });

  /** A turn that was given up may have ended its process. */
  async function modelPid(): Promise<number> {
    if (!host.processes().has(modelPath)) await textOf(turn());
    return pidOf({ pid: host.processes().get(modelPath) });
  }

  test('a turn that takes too long is a timeout, and so is one that begins too late', async () => {
    const request = { messages: ask('Write a long story about a cat.'), maxTokens: 800 };
    expect(await failureOf(turn({ request, limits: { wallMs: 100 } }))).toMatchObject({
      kind: 'timeout',
      phase: 'wall',
    });
    // Another process has to load the model first.
    const pid = await modelPid();
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => host.processes().get(modelPath)).not.toBe(pid);
    expect(await failureOf(turn({ request, limits: { headersMs: 10 } }))).toMatchObject({
      kind: 'timeout',
      phase: 'headers',
    });
    // The process that was given up may still be ending, and take one more attempt with it.
    const text = await textOf(turn()).catch(() => textOf(turn()));
    expect(text).not.toBe('');
  });

  test('a process that is killed costs an attempt, and the next turn gets another', async () => {
    const pid = await modelPid();
    const taken = turn({
      request: { messages: ask('Write a long story about a bird.'), maxTokens: 800 },
      onDelta: () => process.kill(pid, 'SIGKILL'),
    });
    const failure = await failureOf(taken);
    expect(failure).toMatchObject({ kind: 'process-died', spent: { estimated: true } });
    expect(isTransient(failure)).toBe(true);
    expect(failure.message).toContain('SIGKILL');
    expect(await textOf(turn())).not.toBe('');
    expect(host.processes().get(modelPath)).not.toBe(pid);
  });

  test('two turns at once are both answered', async () => {
    const [one, other] = await Promise.all([
      textOf(turn()),
      textOf(turn({ request: { messages: ask('Say goodbye.') } })),
    ]);
    expect(one).not.toBe('');
    expect(other).not.toBe('');
  });

  describe('with adapters', () => {
    const adapter = join(folder, 'adapter.gguf');
    beforeAll(() => writeAdapter(adapter, { width: 576, weight: 0.2 }));
    const spoken = (scale?: number): Promise<string> => {
      const adapters = scale === undefined ? {} : { adapters: [{ path: adapter, scale }] };
      return textOf(turn({ request: { messages: ask('What is the sea?'), maxTokens: 24, ...adapters } }));
    };

    test('an adapter changes what is said, as far as its scale says', async () => {
      const plain = await spoken();
      expect(await spoken(1)).not.toBe(plain);
      expect(await spoken(0)).toBe(plain);
      expect(await spoken()).toBe(plain);
    });

    const sent = async (own: { base?: string }): Promise<number> => {
      const adapters = [{ path: adapter, scale: 0, ...own }];
      const { usage } = await replyOf(turn({ request: { messages: ask('What is the sea?'), maxTokens: 2, adapters } }));
      return usage.input + usage.cacheRead;
    };

    test('one that was trained for a model is asked as it was trained: by the template of that model, default words included', async () => {
      const base = await hashOfFile(modelPath);
      // "system", a line and the sentence that SmolLM2's template puts before a conversation without one; and one mark of the begin, not two.
      expect((await sent({ base })) - (await sent({}))).toBe(20);
    });

    test('one that was trained for another model is refused', async () => {
      const adapters = [{ path: adapter, scale: 1, base: 'f'.repeat(64) }];
      const failure = await failureOf(turn({ request: { adapters } }));
      expect(failure).toMatchObject({ kind: 'bad-request', field: 'adapters' });
      expect(failure.message).toContain('was made for another model');
    });

    test('a file that is no adapter is named', async () => {
      const broken = join(folder, 'broken.gguf');
      writeFileSync(broken, 'no gguf');
      const failure = await failureOf(turn({ request: { adapters: [{ path: broken, scale: 1 }] } }));
      expect(failure).toMatchObject({ kind: 'bad-request', field: 'adapters' });
      expect(failure.message).toContain(broken);
      expect(await textOf(turn())).not.toBe('');
    });
  });

  test('a model that is cut, and one that is not there, say so', async () => {
    const cut = join(folder, 'cut.gguf');
    copyFileSync(modelPath, cut);
    truncateSync(cut, 40_000_000);
    expect(await failureOf(turn({ request: { model: cut } }))).toMatchObject({ kind: 'bad-request', field: 'model' });
    expect(await failureOf(turn({ request: { model: 'nothing' } }))).toMatchObject({ kind: 'model-not-found' });
    expect(await failureOf(turn({ request: { model: './gone.gguf' } }))).toMatchObject({ kind: 'model-not-found' });
    await expect(describeFile(join(folder, 'models.json'))).rejects.toThrow(/no GGUF file/);
  });

  test('the head of the file says the window', async () => {
    expect(await describeFile(modelPath)).toEqual({ window: 8192, thinking: null });
  });

  test('a process that rests is ended', async () => {
    const resting = new ModelHost({ program, threads: 2, restMs: 50 });
    const own = localProvider({ name: 'local', models, host: resting, project: folder });
    const facts = factsOf('local', 'small', { window: 512 });
    await replyOf(
      takeTurn(own, { model: 'small', messages: ask('Hi.'), maxTokens: 2 }, facts, {
        signal: new AbortController().signal,
      }),
    );
    while (resting.processes().size > 0) await sleep(20);
    await own.close();
  });

  test('a file that is replaced is loaded with the next turn, and a turn under way ends with the one before', async () => {
    const path = join(folder, 'replaced.gguf');
    copyFileSync(modelPath, path);
    let heard = 0;
    const underWay = turn({ request: { model: path, maxTokens: 60 }, onDelta: () => (heard += 1) });
    await expect.poll(() => heard, { timeout: 60_000 }).toBeGreaterThan(0);
    const before = pidOf({ pid: host.processes().get(path) });
    copyFileSync(modelPath, `${path}.new`);
    renameSync(`${path}.new`, path);
    await replyOf(turn({ request: { model: path } }));
    const after = host.processes().get(path);
    expect(after).not.toBe(before);
    await replyOf(underWay);
    await expect.poll(() => isAlive(before), { timeout: 60_000 }).toBe(false);
    await replyOf(turn({ request: { model: path } }));
    expect(host.processes().get(path)).toBe(after);
  });

  test('a model ends with the program that holds it, however that ends', async () => {
    const parent = spawn(
      process.execPath,
      ['--import', 'jiti/register', join(import.meta.dirname, 'parent.ts'), modelPath],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const pid = await new Promise<number>((resolve, reject) => {
      parent.stdout.on('data', (text: Buffer) => resolve(Number(/model (\d+)/.exec(text.toString('utf8'))?.[1])));
      parent.once('exit', (code) => reject(new Error(`it ended with code ${code}`)));
    });
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    while (isAlive(pid)) await sleep(20);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
