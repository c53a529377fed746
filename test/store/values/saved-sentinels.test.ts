/** Saved sentinels: whose a name is, what it finds for whom, and how the runs of its versions went. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import type { OpenSession } from '../../../prisma/store/contract/session-contract.ts';
import type { SavedSentinel, Saving, Seeker } from '../../../prisma/store/contract/sentinel-contract.ts';
import { medianMs } from '../../elapsed.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();
let session: OpenSession;
beforeAll(() => {
  session = opened.store.session();
});
afterAll(() => session.close());

const saying = (name: string, line: string): Definition => ({
  name,
  steps: [{ type: 'shell', command: line }],
  loop: { type: 'once' },
});
const ada: Saving = { persona: 'ada', project: '/one', isPerson: true };
const helper: Saving = { persona: 'helper-ai', project: '/one', isPerson: false };

async function save(definition: Definition, by: Saving): Promise<SavedSentinel> {
  const writing = opened.store.session();
  try {
    const saved = await opened.store.sentinels.save(writing, definition, by);
    await writing.end();
    return saved;
  } finally {
    await writing.close();
  }
}

async function found(name: string, seeker?: Seeker): Promise<string | undefined> {
  const step = (await opened.store.definitions.find(name, seeker))?.definition.steps[0];
  return step?.type === 'shell' ? step.command : undefined;
}

describe('a name', () => {
  test('finds one of the own persona, then of the project, then a public one, then any', async () => {
    await save(saying('near', 'private'), { ...ada, persona: 'eve', project: '/far', isPublic: false });
    expect(await found('near', ada)).toBe('private');
    await save(saying('near', 'public'), { ...ada, persona: 'bob', project: '/far' });
    expect(await found('near', ada)).toBe('public');
    await save(saying('near', 'project'), { ...ada, persona: 'bob', isPublic: false });
    expect(await found('near', ada)).toBe('project');
    await save(saying('near', 'own'), { ...ada, project: '/far', isPublic: false });
    expect(await found('near', ada)).toBe('own');
    expect(await found('near', { persona: 'bob', project: '/far' })).toBe('public');
  });

  test('of a person is taken over by nobody who saves it later, also for others of the project', async () => {
    const saved = await save(saying('release', 'ask'), ada);
    await save(saying('release', 'let through'), helper);
    await opened.store.definitions.publish(saying('release', 'let through, too'), { ...helper, persona: 'other-ai' });
    expect(await found('release', ada)).toBe('ask');
    expect(await found('release', { persona: 'bob', project: '/one' })).toBe('ask');
    expect(await found('release', helper)).toBe('let through');
    expect(await opened.store.sentinels.own(session, 'release', ada)).toMatchObject({ hash: saved.hash, version: 1 });
    expect(await opened.store.definitions.versions('release', ada)).toMatchObject([{ hash: saved.hash }]);
  });

  test('that is nobody’s belongs to the person who saves over it', async () => {
    await opened.store.definitions.publish(saying('left', 'before'));
    await save(saying('left', 'by a run'), helper);
    await save(saying('left', 'after'), ada);
    expect(await found('left', ada)).toBe('after');
    expect(await opened.store.definitions.versions('left', ada)).toHaveLength(2);
    expect(await opened.store.sentinels.own(session, 'left', { persona: '', project: '' })).toBeNull();
  });

  test('is forgotten for its owner, and those of others stay', async () => {
    await save(saying('kept', 'ada'), ada);
    await save(saying('kept', 'helper'), helper);
    expect(await opened.store.definitions.forget('kept', helper)).toBe(true);
    expect(await found('kept', helper)).toBe('ada');
    expect(await opened.store.sentinels.own(session, 'kept', helper)).toBeNull();
  });

  test('keeps what was said of it where a later save says nothing, and takes what it says', async () => {
    await save(saying('said', '1'), { ...ada, tags: ['a', 'b\0'], isPublic: false, parentPersona: 'parent' });
    expect(await save(saying('said', '2'), { ...ada, origin: { from: 'x' } })).toMatchObject({
      version: 2,
      tags: ['a', 'b\u2400'],
      isPublic: false,
      parentPersona: 'parent',
    });
    expect(await save(saying('said', '3'), { ...ada, tags: [], isPublic: true })).toMatchObject({
      tags: [],
      isPublic: true,
      origin: { from: 'x' },
    });
    const one = await opened.store.sentinels.own(session, 'said', ada);
    expect((await opened.store.sentinels.versions(session, one?.id ?? 0)).map(({ version }) => version)).toEqual([
      3, 2, 1,
    ]);
  });
});

test('statistics are those of the real runs of all versions, each counted for one sentinel', async () => {
  const definition = saying('counted', '1');
  const { hash } = await save(definition, ada);
  await save(definition, { ...helper, project: '/two' });
  const { hash: second } = await save(saying('counted', '2'), ada);
  const run = async (handle: string, definitionHash: string, of: Seeker, end?: 'completed' | 'failed') => {
    const { persona, project } = of;
    const row = { handle, name: 'counted', definitionHash, persona, project, parent: null, inputs: {} };
    await opened.store.runs.create({ ...row, startedAt: 1_000 });
    await opened.store.events.append(handle, [{ ...started(1, 'counted'), definitionHash, persona, project }]);
    if (end !== undefined)
      await opened.store.events.append(handle, [
        end === 'completed' ? finished(2) : { ...finished(2), status: 'failed', outcome: 'failed' },
      ]);
  };
  await run('counted-1', hash, ada, 'completed');
  await run('counted-2', hash, ada, 'failed');
  await run('counted-3', second, ada, 'completed');
  await run('counted-4', second, ada);
  await run('counted-5', hash, { persona: 'helper-ai', project: '/elsewhere' }, 'failed');
  const statistics = async (of: Seeker) => {
    const one = await opened.store.sentinels.own(session, 'counted', of);
    return one && [one.runCount, one.successRate, one.averageDurationMs, one.lastRunAt];
  };
  const ran = async (handle: string): Promise<number> => {
    const row = await opened.store.runs.find(handle);
    return (row?.finishedAt ?? 0) - (row?.startedAt ?? 0);
  };
  const [own, latest] = [await statistics(ada), (await opened.store.runs.find('counted-4'))?.startedAt];
  const average = Math.round(((await ran('counted-1')) + (await ran('counted-2')) + (await ran('counted-3'))) / 3);
  expect(own).toEqual([4, 2 / 3, average, latest]);
  expect((await statistics({ persona: 'helper-ai', project: '/two' }))?.slice(0, 2)).toEqual([1, 0]);
  expect(
    (await opened.store.sentinels.list(session, { persona: 'ada' })).find(({ name }) => name === 'counted'),
  ).toMatchObject({
    runCount: 4,
  });
});

test('of 10,000 of them one is found, and a page listed, without a look at all', async () => {
  await opened.database.query(
    `with made as (
       insert into definitions (hash, name, version, definition)
         select 'many-' || n, 'many-' || n, 1, json_build_object('name', 'many-' || n, 'steps', json_build_array(), 'loop', json_build_object('type', 'once'))
         from generate_series(1, 10000) n returning hash, name, definition
     ), saved as (
       insert into saved_sentinels (name, persona, project, hash, fields, saved_at)
         select name, 'many', '/many', hash, definition::jsonb, clock_timestamp() from made returning id, hash
     ) insert into saved_versions (hash, sentinel, saved_at) select hash, id, clock_timestamp() from saved`,
  );
  await opened.database.query('analyze');
  const whole = await medianMs(() => opened.store.sentinels.list(session, { project: '/many', limit: 10_000 }));
  // A statement that goes over all of them would take as long.
  expect(await medianMs(() => opened.store.definitions.find('many-5000', ada))).toBeLessThan(whole / 5);
  expect(await medianMs(() => opened.store.sentinels.list(session, { after: 'many-5', limit: 20 }))).toBeLessThan(
    whole / 5,
  );
  const names: string[] = [];
  for (;;) {
    const next = await opened.store.sentinels.list(session, {
      project: '/many',
      limit: 3_000,
      after: names.at(-1) ?? '',
    });
    if (next.length === 0) break;
    names.push(...next.map(({ name }) => name));
  }
  expect(new Set(names).size).toBe(10_000);
});
