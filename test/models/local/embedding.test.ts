/** Vectors of texts by real models in a process of their own: an embedding model, and one that answers. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Embedded } from '../../../world/models/embedding.ts';
import { openLocal, type LocalOfTest } from './open-local.ts';

const small = inject('smallModel');
const embedder = inject('embeddingModel');
const whyNot = [small, embedder].flatMap((one) => ('missing' in one ? [one.missing] : []));
const pathOf = (one: typeof small): string => ('path' in one ? one.path : '');
const never = new AbortController().signal;

const dot = (one: readonly number[] = [], other: readonly number[] = []): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

describe.skipIf(whyNot.length > 0)(
  `vectors by a local model${whyNot.map((why) => ` (skipped: ${why})`).join('')}`,
  () => {
    let local: LocalOfTest;
    beforeAll(() => {
      local = openLocal({ minilm: pathOf(embedder), small: pathOf(small) }, 'minilm');
    });
    afterAll(() => local.close());

    const embed = async (texts: readonly string[], models = local.models): Promise<Embedded> => {
      const made = await models.embed(texts, never);
      if (made === null) throw new Error('no model is named');
      return made;
    };

    test('what says the same in other words is closer than what says something else', async () => {
      const { by, vectors } = await embed([
        'The engine does not start when it is cold.',
        'In winter the motor refuses to run.',
        'The invoice was paid on Friday.',
      ]);
      expect(by).toMatch(/^local\/minilm@384-[0-9a-f]{8}$/);
      for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      const [engine, motor, invoice] = vectors;
      expect(dot(engine, motor)).toBeGreaterThan(dot(engine, invoice) + 0.2);
    });

    test('the vectors are those that the authors of the model published for it', async () => {
      // Its card says 0.94 and 0.26 of these.
      const { vectors } = await embed([
        'That is a happy person',
        'That is a very happy person',
        'Today is a sunny day',
      ]);
      expect(dot(vectors[0], vectors[1])).toBeCloseTo(0.94, 1);
      expect(dot(vectors[0], vectors[2])).toBeCloseTo(0.26, 1);
    });

    test('a text that is too long is cut, an empty one has a vector, and the same text always the same', async () => {
      const { vectors } = await embed(['word '.repeat(5_000), '', 'a', 'a']);
      expect(vectors).toHaveLength(4);
      expect(dot(vectors[2], vectors[3])).toBeCloseTo(1, 5);
    });

    test('a model that answers makes vectors, too, and says who it is', async () => {
      const { by, vectors } = await embed(['hello'], local.embeddingBy('small'));
      expect(by).toMatch(/^local\/small@576-[0-9a-f]{8}$/);
      expect(vectors[0]).toHaveLength(576);
    });

    test('another file of the same name is another maker', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sentinel-replaced-'));
      const path = join(folder, 'model.gguf');
      copyFileSync(pathOf(embedder), path);
      const own = openLocal({ mine: path }, 'mine');
      try {
        const before = await embed(['a'], own.models);
        copyFileSync(pathOf(small), path);
        const after = await embed(['a'], own.models);
        expect(after.by).not.toBe(before.by);
        expect(after.vectors[0]).toHaveLength(576);
      } finally {
        await own.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });

    test('a file that is gone, and a name that nobody has', async () => {
      await expect(embed(['a'], local.embeddingBy('nobody'))).rejects.toMatchObject({
        finding: { kind: 'model-not-found' },
      });
    });
  },
);
