/**
 * What a small embedding model is worth to memories: 20 questions in other words over 200 memories of two personas, which
 * were written before anything was measured on them. The same by hashing alone stands beside it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Registry } from '../../../operations/registry.ts';
import { commandsOf } from '../../activities/harness/commands-of.ts';
import { read } from '../../project/tree.ts';
import { useStore } from '../../store/harness/opened.ts';
import { openLocal, type LocalOfTest } from './open-local.ts';

const embedder = inject('embeddingModel');
const why = 'path' in embedder ? '' : ` (skipped: no embedding model: ${embedder.missing})`;

interface Written {
  memories: { id: string; persona: string; text: string }[];
  questions: { persona: string; question: string; answer: string }[];
}
const { memories, questions } = JSON.parse(read('test/cases/memories/other-words.json')) as Written;
const FIRST = 3;
/** Of the 20. */
const foundMin = 16;

const opened = useStore();

/** Asks all questions; those whose memory was not among the first, with its place. */
async function missed(registry: Registry): Promise<{ question: string; place: number; by: string[] }[]> {
  const { person } = commandsOf(opened, registry);
  const all = await Promise.all(
    questions.map(async ({ persona, question, answer }) => {
      const found = (await person('memory/recall', { personaId: persona, query: question, limit: 100 })) as {
        content: string;
        embedding: string;
      }[];
      const right = memories.find(({ id }) => id === answer)?.text;
      const place = found.findIndex(({ content }) => content === right) + 1;
      return { question, place, by: [...new Set(found.map(({ embedding }) => embedding))] };
    }),
  );
  return all.filter(({ place }) => place === 0 || place > FIRST);
}

describe.skipIf('missing' in embedder)(`20 questions in other words over 200 memories${why}`, () => {
  let local: LocalOfTest;
  beforeAll(async () => {
    local = openLocal({ minilm: 'path' in embedder ? embedder.path : '' }, 'minilm');
    expect([memories.length, questions.length]).toEqual([200, 20]);
    const { person } = commandsOf(opened, builtInRegistry());
    for (const { persona, text } of memories) await person('memory/store', { personaId: persona, content: text });
  });
  afterAll(() => local.close());

  test('the small model finds the right one among the first three', async () => {
    const hashing = await missed(builtInRegistry());
    const { models } = local;
    const registry = builtInRegistry({ embed: models.embed });
    const { step } = commandsOf(opened, registry);
    const background = { caller: { kind: 'background', name: 'memory/embed' } } as const;
    let embedded = 0;
    for (let isUnderWay = true; isUnderWay; await sleep(50)) {
      const done = (await step('memory/embed', {}, '/', background)) as { embedded: number; isUnderWay: boolean };
      embedded += done.embedded;
      isUnderWay = done.isUnderWay;
    }
    expect(embedded).toBe(200);
    const byModel = await missed(registry);
    const found = { model: questions.length - byModel.length, hashing: questions.length - hashing.length };
    console.log(
      `among the first ${FIRST} of ${questions.length}: ${found.model} by the model, ${found.hashing} by hashing`,
    );
    for (const { question, place } of byModel) console.log(`  missed by the model (${place}): ${question}`);
    expect(found.model).toBeGreaterThanOrEqual(foundMin);
    expect(found.model).toBeGreaterThan(found.hashing);
  });
});
