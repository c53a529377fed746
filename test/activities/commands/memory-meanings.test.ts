/** Memories with vectors by a model: which of them made each, what happens when another is named, and what is asked of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Registry } from '../../../operations/registry.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { Models } from '../../../world/models/open-models.ts';
import { NO_SETTINGS } from '../../../world/models/resolve/settings.ts';
import { Double } from '../../models/wires/double.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';

const opened = useStore();
let double: Double;
const models: Models[] = [];
/** What the server is like now. */
let server: { isSilent?: boolean; refuses?: string } = {};

/** What stands for what: the model of this test knows that these mean the same. */
const MEANINGS = [
  ['build', 'compile', 'compiler'],
  ['dog', 'hound', 'puppy'],
  ['invoice', 'bill'],
];
const vectorOf = (text: string, bias: number): number[] => [
  ...MEANINGS.map((words) => words.filter((word) => text.toLowerCase().includes(word)).length),
  bias,
];

beforeAll(async () => {
  double = await new Double().open();
  double.route('/api/show', { status: 404, pieces: ['{"error":"none"}'] });
  double.answer('/api/embed', ({ model, input }) => {
    if (server.isSilent === true) return { silentMs: Number.POSITIVE_INFINITY };
    const texts = input as string[];
    if (server.refuses !== undefined && texts.some((text) => text.includes(server.refuses ?? '')))
      return { status: 400, pieces: ['{"error":"the text is refused"}'] };
    // Each model has vectors of another length.
    const more = model === 'other' ? [0.01] : [];
    return { pieces: [JSON.stringify({ model, embeddings: texts.map((text) => [...vectorOf(text, 0.1), ...more]) })] };
  });
});
afterEach(async () => {
  server = {};
  double.asked.length = 0;
  await opened.database.query('delete from memory_entries');
  await opened.database.query('delete from memory_embedders');
});
afterAll(async () => {
  await Promise.all(models.map((one) => one.close()));
  await double.close();
});

/** A process whose project names this model. */
function processOf(model: string) {
  const own = new Models({
    settings: { ...NO_SETTINGS, embedding: `ollama/${model}` },
    env: { OLLAMA_HOST: double.url },
    registry: '/nonexistent/models.json',
    program: { path: '/nonexistent' },
    project: '/',
  });
  models.push(own);
  return commandsIn(builtInRegistry({ embed: own.embed }));
}

function commandsIn(registry: Registry) {
  const { step, person } = commandsOf(opened, registry);
  const background = { caller: { kind: 'background', name: 'memory/embed' } } as const;
  const handle = `process-${models.length}`;
  const run = (project: string) => ({ handle, project, persona: 'ada', definitionHash: '' });
  return {
    person,
    store: (content: Json, project = '/') => step('memory/store', { content }, '/', { run: run(project) }),
    recall: async (query: string) => {
      return (await person('memory/recall', { query })) as (JsonObject & { content: Json; embedding: string })[];
    },
    /** What a worker does again and again, until nothing is under way; `batches`: no more than so many, and then the process dies. */
    embed: async ({ project = '/', batches = Number.POSITIVE_INFINITY } = {}) => {
      let embedded = 0;
      for (let kept = 0; ;) {
        const done = (await step('memory/embed', {}, '/', { ...background, run: run(project) })) as {
          embedded: number;
          isUnderWay: boolean;
        };
        embedded += done.embedded;
        if (done.embedded > 0) kept += 1;
        if (!done.isUnderWay || kept >= batches) return embedded;
        await sleep(5);
      }
    },
  };
}

const asked = (): string[] =>
  double.asked.flatMap(({ path, body }) => (path === '/api/embed' ? (body['input'] as string[]) : []));
const embedders = async (): Promise<unknown[]> =>
  (
    await opened.database.query<{ embedder: string | null; count: string }>(
      'select embedder, count(*) from memory_entries group by embedder order by embedder',
    )
  ).map(({ embedder, count }) => [embedder, Number(count)]);

describe('a model that makes vectors', () => {
  it('is used once it has made them, and what it has not is compared by hashing, and says so', async () => {
    const { store, recall, embed } = processOf('one');
    await store('The hound barked at the postman.');
    await store('The bill of the plumber is paid.');
    // Nothing is in common but what it means.
    expect(await recall('puppy')).toEqual([]);
    expect(await embed()).toBe(2);
    expect(await recall('puppy')).toMatchObject([
      { content: 'The hound barked at the postman.', embedding: 'ollama/one@4' },
    ]);
    await store('A puppy was given to Noah.');
    const both = await recall('puppy');
    expect(Object.fromEntries(both.map(({ content, embedding }) => [content, embedding]))).toEqual({
      'A puppy was given to Noah.': 'hashing',
      'The hound barked at the postman.': 'ollama/one@4',
    });
    expect(await embed()).toBe(1);
    expect((await recall('puppy')).map(({ embedding }) => embedding)).toEqual(['ollama/one@4', 'ollama/one@4']);
  });

  it('is asked for nothing while there is no memory', async () => {
    const { store, embed } = processOf('one');
    await store('The bill of another project.', '/other');
    expect(await embed()).toBe(0);
    expect(double.asked).toEqual([]);
    await store('The hound barked.');
    expect(await embed()).toBe(1);
  });

  it('asks for each text once, goes on where a process ended, and begins anew for another model', async () => {
    const first = processOf('one');
    for (let n = 0; n < 150; n += 1) await first.store(`The bill number ${n}.`);
    expect(await first.embed({ batches: 1 })).toBe(64);
    // It dies, with a batch under way: another process waits until it has said nothing for a while.
    await opened.database.query(`update memory_embedders set busy_by = 'another'`);
    const second = processOf('one');
    expect(await second.embed()).toBe(0);
    await opened.database.query(`update memory_embedders set busy_until = now() - interval '1 second'`);
    expect(await second.embed()).toBe(86);
    expect(await second.embed()).toBe(0);
    const texts = asked().filter((text) => text !== '.');
    // What was under way is asked for again, and nothing else.
    expect([new Set(texts).size, texts.length]).toEqual([150, 150 + 64]);
    expect(await embedders()).toEqual([['ollama/one@4', 150]]);

    const other = processOf('other');
    // Not one of the other's vectors is held against one of these.
    expect(new Set((await other.recall('bill')).map(({ embedding }) => embedding))).toEqual(new Set(['hashing']));
    expect(await other.embed({ batches: 1 })).toBe(64);
    expect(await embedders()).toEqual([
      ['ollama/one@4', 86],
      ['ollama/other@5', 64],
    ]);
    expect(new Set((await other.recall('invoice')).map(({ embedding }) => embedding))).toEqual(
      new Set(['ollama/other@5']),
    );
    expect(await other.embed()).toBe(86);
    expect(await embedders()).toEqual([['ollama/other@5', 150]]);
  });

  it('leaves to another project what that one embeds', async () => {
    const [one, other] = [processOf('one'), processOf('other')];
    await one.embed({ project: '/one' });
    await one.store('The hound of this project.', '/one');
    await one.embed({ project: '/one' });
    await other.embed({ project: '/other' });
    await other.store('The bill of the other project.', '/other');
    expect(await one.embed({ project: '/one' })).toBe(0);
    expect(await other.embed({ project: '/other' })).toBe(1);
    for (const again of [one.embed({ project: '/one' }), other.embed({ project: '/other' })])
      expect(await again).toBe(0);
    expect(await embedders()).toEqual([
      ['ollama/one@4', 1],
      ['ollama/other@5', 1],
    ]);
  });

  it('makes anew what is of a project that has left it, where another project still has it', async () => {
    const [one, other] = [processOf('one'), processOf('other')];
    for (const project of ['/one', '/other']) {
      await one.store(`The hound of ${project}.`, project);
      expect(await one.embed({ project })).toBe(1);
    }
    expect(await other.embed({ project: '/other' })).toBe(1);
    expect(await one.embed({ project: '/one' })).toBe(0);
    const made = await opened.database.query('select project, embedder from memory_entries order by project');
    expect(made).toEqual([
      { project: '/one', embedder: 'ollama/one@4' },
      { project: '/other', embedder: 'ollama/other@5' },
    ]);
  });

  it('is sent nothing of other projects, whether those name a model, have left theirs or never had one', async () => {
    const [one, other] = [processOf('one'), processOf('other')];
    await one.store('The bill of a project that has left its model.', '/left');
    await one.embed({ project: '/left' });
    await opened.database.query(`update memory_embedders set is_current = false where project = '/left'`);
    await one.store('The bill of a project that names no model.', '/none');
    await other.store('The bill of the other project.', '/other');
    double.asked.length = 0;
    expect(await other.embed({ project: '/other' })).toBe(1);
    expect(asked()).toEqual(['.', 'The bill of the other project.']);
  });

  it('embeds what is of no project for whichever project has it, and anew once none has its model any more', async () => {
    const [one, other] = [processOf('one'), processOf('other')];
    await one.person('memory/store', { personaId: 'ada', content: 'The hound of nobody.' });
    expect(await one.embed({ project: '/one' })).toBe(1);
    await other.store('The bill of the other project.', '/other');
    expect(await other.embed({ project: '/other' })).toBe(1);
    expect(await other.embed({ project: '/one' })).toBe(1);
    expect(await embedders()).toEqual([['ollama/other@5', 2]]);
  });

  it('that takes one text of many not is asked for the others, and not for that one again', async () => {
    const { store, embed, recall } = processOf('one');
    await embed();
    for (const text of ['The hound.', 'forbidden bill', 'The compiler.']) await store(text);
    server.refuses = 'forbidden';
    expect(await embed()).toBe(3);
    expect(await embed()).toBe(0);
    expect(await recall('puppy')).toMatchObject([{ embedding: 'ollama/one@4' }]);
    server = {};
    expect((await recall('forbidden bill')).map(({ content, embedding }) => [content, embedding])[0]).toEqual([
      'forbidden bill',
      'hashing',
    ]);
  });

  it('that does not answer holds up no recall for long', async () => {
    const { store, embed } = processOf('one');
    await store('The hound barked.');
    await embed();
    server.isSilent = true;
    const registry = builtInRegistry({ embed: models.at(-1)?.embed ?? never });
    const { step } = commandsOf(opened, registry);
    const run = { handle: 'waits', project: '/', persona: 'ada', definitionHash: '' };
    const found = await step('memory/recall', { query: 'hound' }, '/', { run });
    expect(found).toMatchObject([{ content: 'The hound barked.', embedding: 'hashing' }]);
  });

  it('that was silent is not waited for again, until it has answered or a while has passed', async () => {
    const { store, embed, recall } = processOf('one');
    const registry = builtInRegistry({ embed: models.at(-1)?.embed ?? never });
    const { step } = commandsOf(opened, registry);
    const run = { handle: 'silent', project: '/', persona: 'ada', definitionHash: '' };
    const recallByStep = () => step('memory/recall', { query: 'hound' }, '/', { run });
    await store('The hound barked.');
    await embed();
    server.isSilent = true;
    double.asked.length = 0;
    for (let n = 0; n < 3; n += 1) expect(await recallByStep()).toMatchObject([{ embedding: 'hashing' }]);
    expect(asked()).toEqual(['hound']);
    server.isSilent = false;
    await store('The puppy slept.');
    await embed();
    expect(await recallByStep()).toMatchObject([{ embedding: 'ollama/one@4' }, { embedding: 'ollama/one@4' }]);
    expect(await recall('hound')).toHaveLength(2);
  });

  it('leaves nothing of what is forgotten', async () => {
    const { store, embed, person } = processOf('one');
    const { id } = (await store('The hound barked.')) as { id: string };
    await embed();
    expect(await opened.database.query('select 1 from memory_entries where meaning is not null')).toHaveLength(1);
    await person('memory/forget', { personaId: 'ada', id });
    expect(await opened.database.query('select 1 from memory_entries')).toEqual([]);
  });
});

const never = (): Promise<never> => Promise.reject(new Error('nobody asks'));
