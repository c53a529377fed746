/** Layers of models that systems know: asked by their commands, one system after the other. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Command, RunPort } from '../../../operations/command.ts';
import { defineCommand } from '../../../operations/command.ts';
import { createRegistry } from '../../../operations/registry.ts';
import { Failure } from '../../../world/failures/failures.ts';
import type { Models } from '../../../world/models/open-models.ts';
import type { AskedAt } from '../../../world/models/resolve/resolve-model.ts';
import { type KnownLayers, layersBy, withLayers } from '../../../worker/layers.ts';
import { useStore } from '../../store/harness/opened.ts';

const opened = useStore();

const Found = z.unknown() as unknown as z.ZodType<never>;
const quick = (name: string, params: z.ZodObject, run: (params: never) => unknown): Command =>
  defineCommand({ name, permission: 'read', speed: 'quick', params, result: Found, run: run as () => never });

const calls: unknown[] = [];
const named = z.strictObject({ name: z.string() });
const persona = z.strictObject({ persona: z.string() });
const commands = [
  quick('first/layer', named, ({ name }: { name: string }) => {
    calls.push(name);
    if (name === 'later') return { waitMs: 700, because: 'it is in training' };
    if (name === 'broken') throw new Failure('SHELF_SHUT', 'the shelf is shut');
    return name === 'strange' ? { path: 7 } : name === 'style' ? { path: '/first/style.gguf', scale: 0.5 } : null;
  }),
  quick('first/genome', persona, () => null),
  quick('second/layer', named, ({ name }: { name: string }) =>
    name === 'known' ? { path: '/second/known.gguf', scale: 1 } : null,
  ),
  quick('second/genome', persona, (of: { persona: string }) =>
    of.persona === 'ada'
      ? [
          { path: '/second/1.gguf', scale: 1 },
          { path: '/second/2.gguf', scale: 0.25 },
        ]
      : null,
  ),
];
const known: KnownLayers[] = ['first', 'second'].map((system) => ({
  system,
  layer: `${system}/layer`,
  genome: `${system}/genome`,
}));
const parts = (of = known) => ({
  store: opened.store,
  registry: createRegistry(commands),
  runs: {} as RunPort,
  project: '/project',
  known: of,
});

test('a system after the other is asked until one knows it', async () => {
  const layers = layersBy(parts());
  expect(await layers.layer('style')).toEqual({ path: '/first/style.gguf', scale: 0.5 });
  expect(await layers.layer('known')).toEqual({ path: '/second/known.gguf', scale: 1 });
  expect(calls).toEqual(['style', 'known']);
  expect(await layers.genome('ada')).toEqual([
    { path: '/second/1.gguf', scale: 1 },
    { path: '/second/2.gguf', scale: 0.25 },
  ]);
});

test.each([
  ['none', 'the layer "none" is not known to first, second'],
  ['strange', 'first/layer answered with what is no layer for "strange"'],
  ['broken', 'first/layer: the shelf is shut'],
])('the layer %j fails the turn in words', async (name, message) => {
  await expect(layersBy(parts()).layer(name)).rejects.toThrow(message);
});

test('a layer that is not there yet is asked for again, and the step says what it waits for', async () => {
  await expect(layersBy(parts()).layer('later')).rejects.toMatchObject({
    message: 'it is in training',
    finding: { kind: 'layer-in-training', layer: 'the layer "later"', retryAfterMs: 700 },
  });
});

test('a turn has the layers of systems, and none where no system knows any', async () => {
  const seen: AskedAt[] = [];
  const resolve = (_asked: string, _needs: unknown, at: AskedAt): Promise<never> => {
    seen.push(at);
    return Promise.reject(new Error('seen'));
  };
  const models = { resolve } as unknown as Models;
  const { signal } = new AbortController();
  for (const of of [known, []])
    await expect(withLayers(models, parts(of)).resolve('a', {} as never, { project: '/p', signal })).rejects.toThrow(
      'seen',
    );
  expect(seen.map(({ layers }) => layers === undefined)).toEqual([false, true]);
});
