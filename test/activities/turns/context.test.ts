/** What a model is told besides its prompt: as much as its window has room for, the same for whoever takes the turn again. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Failure } from '../../../world/failures/failures.ts';
import type { Models } from '../../../world/models/open-models.ts';
import { runTurn } from '../../../activities/turns/run-turn.ts';
import type { TurnRequest } from '../../../interpreter/contract.ts';
import type { Opening } from '../../../interpreter/effect.ts';
import type { JsonObject } from '../../../language/json.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { useStore } from '../../store/harness/opened.ts';
import { say, useModels } from '../harness/asked-models.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const opened = useStore();
const asking = useModels();
const registry = builtInRegistry();

let runs = 0;

interface Asked {
  handle?: string;
  opening: Partial<Opening>;
  models?: Models;
  project?: string;
  request?: Partial<TurnRequest>;
}

async function ask({ handle, opening, models, project = '/', request = {} }: Asked): Promise<string> {
  const run = handle ?? `context-${(runs += 1)}`;
  await runTurn(
    { store: opened.store, registry, models: models ?? asking.models() },
    {
      conversation: 'steps.0@1',
      turn: 1,
      model: 'openai/some-model',
      say: [],
      answers: [],
      tools: [],
      settings: {},
      opening: { messages: [], images: [], prompt: 'What is next?', ...opening },
      ...request,
    },
    {
      run: { handle: run, project },
      asker: 'steps.0@1/turn',
      attempt: 'one',
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    },
  );
  return run;
}

async function contextRow(handle: string): Promise<JsonObject> {
  const rows = await opened.store.conversations.read({ handle, conversation: 'steps.0@1' });
  return (rows.find(({ message }) => 'context' in message)?.message['context'] ?? {}) as JsonObject;
}

const collect = (handle: string, parts: { name: string; text: string }[]): Promise<void> =>
  opened.store.conversations.add({ handle, conversation: 'context.0@1' }, [
    {
      turn: 0,
      part: 0,
      message: {
        role: 'user',
        blocks: parts.map((part) => ({ type: 'text', ...part })),
        leftOut: [{ name: 'memory', why: 'memories have no store yet' }],
      },
    },
  ]);

test('variables and sources stand before the prompt, and the transcript says what is there and what is not', async () => {
  asking.double().next(say('Lunch.'));
  const handle = `context-${(runs += 1)}`;
  await collect(handle, [{ name: 'file README.md', text: 'a project of tests' }]);
  await ask({
    handle,
    opening: {
      system: 'Be brief.',
      messages: [{ role: 'user', text: 'said before' }],
      context: {
        sources: 'context.0@1',
        variables: [{ name: 'files', text: 'a.ts' }],
        leftOut: [{ name: 'variable old', why: 'too much' }],
      },
    },
  });
  const told = asking.texts();
  const order = ['Be brief.', 'said before', 'variable files', 'a.ts', 'file README.md', 'a project', 'What is next?'];
  const at = order.map((text) => told.indexOf(text));
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  expect(at).not.toContain(-1);
  expect(await contextRow(handle)).toMatchObject({
    put: [{ name: 'variable files' }, { name: 'file README.md' }],
    leftOut: [
      { name: 'variable old', why: 'too much' },
      { name: 'memory', why: 'memories have no store yet' },
    ],
  });
  const [turn] = await opened.store.conversations.turns(handle);
  expect(turn?.answer?.['prompts']).toEqual({ context: 1 });
});

test('the window that the model has decides how much is told, and the answer has its room', async () => {
  const long = 'word '.repeat(40_000);
  const variables = [
    { name: 'first', text: long },
    { name: 'second', text: long },
  ];
  const sizes: number[] = [];
  for (const window of [4096, 8192, 64_000]) {
    asking.double().next(say('Lunch.'));
    const handle = await ask({
      models: asking.models({ windows: { 'openai/some-model': window } }),
      opening: { context: { variables, leftOut: [] } },
    });
    const told = asking.texts().length;
    sizes.push(told);
    // Four characters are about a token; half of the window is the answer's.
    expect(told / 4).toBeLessThan(window / 2);
    const { put, leftOut } = (await contextRow(handle)) as { put: JsonObject[]; leftOut: JsonObject[] };
    expect(put[0]).toMatchObject({ name: 'variable first', cut: true });
    expect(leftOut.map(({ name }) => name)).toEqual(['variable second']);
    expect(leftOut[0]?.['why']).toMatch(/it has about \d+ tokens, and \d+ are left of the \d+/);
  }
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(new Set(sizes).size).toBe(3);
});

test('a prompt that fills the window leaves no room, and is asked all the same', async () => {
  asking.double().next(say('Lunch.'));
  const handle = await ask({
    models: asking.models({ windows: { 'openai/some-model': 4096 } }),
    opening: { prompt: 'word '.repeat(2200), context: { variables: [{ name: 'a', text: 'told' }], leftOut: [] } },
  });
  expect(asking.texts()).not.toContain('variable a');
  expect(await contextRow(handle)).toMatchObject({ room: 0, put: [], leftOut: [{ name: 'variable a' }] });
});

test('what was put together stays, whoever takes the turn again and whatever there is by then', async () => {
  asking.double().next(wire.errors.overloaded, say('Lunch.'));
  const handle = `context-${(runs += 1)}`;
  const context = { sources: 'context.0@1', variables: [{ name: 'files', text: 'a.ts' }], leftOut: [] };
  await expect(ask({ handle, opening: { context } })).rejects.toThrow();
  const before = asking.texts();
  await collect(handle, [{ name: 'file late.md', text: 'what came too late' }]);
  await ask({ handle, opening: { context: { ...context, variables: [{ name: 'files', text: 'b.ts' }] } } });
  expect(asking.asked()).toHaveLength(2);
  expect(asking.texts()).toBe(before);
  expect(before).toContain('a.ts');
});

test('a picture goes as a picture, a text that only looks like one does not, and no bytes are text', async () => {
  const project = await temporaryFolder();
  writeFileSync(join(project, 'shot.png'), 'not really a picture');
  const bytes = Buffer.from('not really a picture').toString('base64');
  asking.double().next(say('A cat.'));
  await ask({
    project,
    opening: {
      prompt: 'What is in [image: shot.png]?',
      images: [
        'shot.png',
        { mention: 'shot.png' },
        { mention: 'missing.png' },
        { mention: '../shot.png' },
        { mediaType: 'image/png', data: 'AAAA' },
      ],
    },
  });
  expect(wire.messages(asking.asked()[0] ?? {}).at(-1)?.images).toEqual([bytes, bytes, 'AAAA']);
});

test('what a conversation began with stays, also where a picture has gone since', async () => {
  const project = await temporaryFolder();
  writeFileSync(join(project, 'shot.png'), 'not really a picture');
  const handle = `context-${(runs += 1)}`;
  const asked = { handle, project, opening: { prompt: 'What is it?', images: ['shot.png'] } };
  asking.double().next(wire.errors.overloaded, say('A cat.'));
  await expect(ask(asked)).rejects.toThrow();
  rmSync(join(project, 'shot.png'));
  await ask(asked);
  const [first, second] = asking.asked().map((body) => body['messages']);
  expect(second).toEqual(first);
});

test('a model without eyes is refused before it is asked', async () => {
  const models = asking.models();
  const blind = {
    resolve: async (...given: Parameters<Models['resolve']>) => {
      const resolved = await models.resolve(...given);
      return { ...resolved, facts: { ...resolved.facts, images: false } };
    },
    turn: models.turn.bind(models),
  };
  const failed: unknown = await ask({
    models: blind as unknown as Models,
    opening: { images: [{ mediaType: 'image/png', data: 'AAAA' }] },
  }).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'MODEL_UNSUPPORTED' } satisfies Partial<Failure>);
  expect(asking.asked()).toEqual([]);
});

test('the tools that the definition points out stand in the system text, and all others stay', async () => {
  asking.double().next(say('Done.'));
  const handle = await ask({
    opening: { system: 'Be brief.' },
    request: { tools: ['code/read', 'code/write', 'code/git'], highlighted: ['code/write'] },
  });
  expect(wire.toolNames(asking.asked()[0] ?? {}).toSorted()).toEqual(['code_git', 'code_read', 'code_write']);
  expect(asking.texts()).toContain(
    'Be brief.\\n\\nFor this work, look to these tools first: code_write. All the other tools',
  );
  const [turn] = await opened.store.conversations.turns(handle);
  expect(turn?.answer?.['prompts']).toEqual({ highlight: 1 });
});
