import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { canonicalText } from '../../../language/canonical.ts';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import type { NewRun } from '../../../prisma/store/contract/contract.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();

function definition(name: string, command = 'npm test'): Definition {
  return { name, steps: [{ type: 'shell', command }], loop: { type: 'once' } };
}

function run(handle: string, rest: Partial<NewRun> = {}): NewRun {
  return {
    handle,
    name: 'n',
    definitionHash: 'h',
    project: '/p',
    persona: 'ada',
    parent: null,
    inputs: {},
    startedAt: 1_000,
    ...rest,
  };
}

describe('definitions', () => {
  test('the same content is one row, a new content a new version', async () => {
    const { definitions } = opened.store;
    const first = await definitions.save(definition('build'));
    const reordered = {
      loop: { type: 'once' },
      name: 'build',
      steps: [{ command: 'npm test', type: 'shell' }],
    } as Definition;
    expect(await definitions.save(reordered)).toEqual(first);
    const second = await definitions.save(definition('build', 'npm run build'));
    expect([first.version, second.version]).toEqual([1, 2]);
    expect(await definitions.find('build')).toEqual(second);
    expect(await definitions.find(first.hash)).toEqual(first);
    expect(await definitions.find('nobody')).toBeNull();
    expect(await definitions.find('no\0body')).toBeNull();
  });

  test('saved at once get versions without holes', async () => {
    const { definitions } = opened.store;
    const saved = await Promise.all(
      Array.from({ length: 24 }, (_, n) => definitions.save(definition('race', `echo ${n % 12}`))),
    );
    expect([...new Set(saved.map(({ version }) => version))].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, n) => n + 1),
    );
    expect((await definitions.versions('race')).map(({ version }) => version)).toEqual(
      Array.from({ length: 12 }, (_, n) => 12 - n),
    );
  });

  test('a name finds what was saved last, and nothing once it is forgotten', async () => {
    const { definitions } = opened.store;
    const [one, two, three] = ['echo 1', 'echo 2', 'echo 3'].map((line) => definition('named', line));
    if (one === undefined || two === undefined || three === undefined) throw new Error('three were made');
    const first = await definitions.save(one);
    const second = await definitions.save(two);
    const named = async (): Promise<(number | undefined)[]> => [
      (await definitions.find('named'))?.version,
      (await definitions.list()).find(({ name }) => name === 'named')?.version,
    ];
    expect(await named()).toEqual([2, 2]);
    // A run of the first one does not make it the one that is meant.
    await definitions.save(one);
    expect(await named()).toEqual([2, 2]);
    expect(await definitions.publish(one)).toEqual(first);
    expect(await named()).toEqual([1, 1]);
    expect(await definitions.forget('named')).toBe(true);
    expect(await definitions.forget('named')).toBe(false);
    expect(await named()).toEqual([undefined, undefined]);
    expect(await definitions.find(second.hash)).toEqual(second);
    expect(await definitions.findSaved(second.hash)).toBeNull();
    await definitions.save(two);
    expect(await named()).toEqual([undefined, undefined]);
    await definitions.publish(two);
    expect(await named()).toEqual([2, 2]);
    await definitions.forget('named');
    expect((await definitions.publish(three)).version).toBe(3);
    expect((await definitions.versions('named')).map(({ version }) => version)).toEqual([3, 2, 1]);
    expect(await named()).toEqual([3, 3]);
  });

  test('what is kept by its hash moves no name, is no version, and is saved like any other later', async () => {
    const { definitions } = opened.store;
    const [gate, open, other] = ['ask', 'let through', 'neither'].map((line) => definition('gate', line));
    if (gate === undefined || open === undefined || other === undefined) throw new Error('three were made');
    const saved = await definitions.publish(gate);
    const kept = await definitions.keep(open);
    expect(kept).toMatchObject({ name: 'gate', version: 0, definition: open });
    expect(await definitions.keep(open)).toEqual(kept);
    expect([await definitions.find('gate'), await definitions.versions('gate')]).toEqual([saved, [saved]]);
    expect((await definitions.list()).filter(({ name }) => name === 'gate')).toEqual([saved]);
    expect(await definitions.find(kept.hash)).toEqual(kept);
    expect(await definitions.findSaved(kept.hash)).toBeNull();
    expect([await definitions.findSaved('gate'), await definitions.findSaved(saved.hash)]).toEqual([saved, saved]);
    // What a person has saved stays saved, whoever starts it.
    expect(await definitions.keep(gate)).toEqual(saved);
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? definitions.keep(other) : definitions.save(other))),
    );
    expect((await definitions.find('gate'))?.definition).toEqual(other);
    expect(await definitions.save(open)).toMatchObject({ name: 'gate', version: 3 });
    expect((await definitions.find('gate'))?.definition).toEqual(open);
    expect((await definitions.versions('gate')).map(({ version }) => version)).toEqual([3, 2, 1]);
  });

  test('that many keep at once are there once', async () => {
    const { definitions } = opened.store;
    for (let round = 0; round < 60; round += 1) {
      const one = definition('kept-at-once', `round ${round}`);
      const all = await Promise.all(Array.from({ length: 8 }, () => definitions.keep(one)));
      expect(new Set(all.map(({ hash }) => hash)).size).toBe(1);
    }
  });

  test('come back as they were written, hostile names and NUL included', async () => {
    const { definitions } = opened.store;
    const odd: Definition = {
      ...definition('__proto__', 'printf "\0"'),
      inputs: { b: 1, a: JSON.parse('{"__proto__": 1}') as object as never },
    };
    const saved = await definitions.save(odd);
    expect(JSON.stringify((await definitions.find('__proto__'))?.definition)).toBe(JSON.stringify(odd));
    expect((await definitions.list()).find(({ hash }) => hash === saved.hash)).toEqual(saved);
  });

  test('the hash is of the canonical text, the first time and later', () => {
    const value = { b: [1, { d: null, c: undefined }], a: 'x' };
    const hash = createHash('sha256').update('{"a":"x","b":[1,{"d":null}]}').digest('hex');
    expect([contentHash(value), contentHash({ ...value }), contentHash({ a: 'x', b: value.b })]).toEqual([
      hash,
      hash,
      hash,
    ]);
    expect(contentHash({ ...value, a: 'y' })).not.toBe(hash);
  });

  test('canonical text does not depend on order or on absent members', () => {
    expect(canonicalText({ b: [1, undefined, { d: null, c: undefined }], a: 'x\0' })).toBe(
      '{"a":"x\\u0000","b":[1,null,{"d":null}]}',
    );
  });
});

describe('runs', () => {
  test('are listed newest first, by status and persona', async () => {
    const { runs, events } = opened.store;
    for (const [n, persona] of ['ada', 'alan', 'ada'].entries())
      await runs.create(run(`r${n}`, { persona, startedAt: 1_000 + n }));
    await events.append('r0', [started(1), finished(2)]);
    const handles = async (query: Parameters<typeof runs.list>[0]): Promise<string[]> =>
      (await runs.list(query)).map(({ handle }) => handle);
    expect(await handles({})).toEqual(['r2', 'r1', 'r0']);
    expect(await handles({ status: 'running' })).toEqual(['r2', 'r1']);
    expect(await handles({ persona: 'ada', limit: 1 })).toEqual(['r2']);
    expect(await runs.list({ status: 'completed' })).toEqual([await runs.find('r0')]);
  });

  test('that never started are discarded, others are not', async () => {
    const { runs, events } = opened.store;
    await runs.create(run('never'));
    expect(await runs.context('never')).toEqual({
      handle: 'never',
      project: '/p',
      persona: 'ada',
      definitionHash: 'h',
    });
    await runs.discard('never');
    expect(await runs.find('never')).toBeNull();
    expect(await runs.context('never')).toBeNull();
    await events.append('did', [started(1)]);
    await runs.discard('did');
    expect(await runs.find('did')).not.toBeNull();
    expect(await runs.find('no\0body')).toBeNull();
  });
});
