/** Whatever takes a definition reads it as a file is read: it names all that is wrong, starts nothing of it, and means by a spelling what a file means. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { workflowIdOf, WORKFLOW_TYPE } from '../../../workflows/messages/messages.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  client = new SentinelClient({ env: harness.env, startsServices: false });
  await harness.run(once('failed', [shell('true'), shell('exit 3', { failOn: 'nonzero' })]), { handle: 'door-failed' });
  await harness.start(once('held', [shell('while [ ! -e go ]; do sleep 0.1; done'), shell('true')]), {
    handle: 'door-held',
  });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const whole = (steps: unknown): JsonObject => ({ name: 'door', loop: { type: 'once' }, steps: steps as Json });
const touch = (name: string) => ({ type: 'shell', command: `touch ${name}` });

let files = 0;
function file(written: unknown): string {
  files += 1;
  const path = join(harness.project, `door-${files}.json`);
  writeFileSync(path, JSON.stringify(written));
  return path;
}

const said = async (...words: string[]): Promise<string> => {
  const { code, out, err } = await harness.command(...words);
  return `exit ${code}\n${out}${err}`;
};
const thrown = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: unknown) => String(error),
  );
const failureOf = async (step: Step): Promise<string> =>
  (await harness.run(once('asks', [step]))).result.failure?.message ?? 'taken';

/** What each says of a definition that it refuses. */
const doors: Record<string, (written: JsonObject) => Promise<string>> = {
  'client.start': (written) => thrown(client.start(written as unknown as Definition, { project: harness.project })),
  'client.retry': (written) => thrown(client.retry('door-failed', { definition: written as unknown as Definition })),
  run: (written) => said('run', file(written)),
  validate: (written) => said('validate', file(written)),
  save: (written) => said('save', file(written)),
  'fork --edit': (written) => said('fork', 'door-failed', '--at', 'steps.1@1', '--edit', file(written)),
  'retry --edit': (written) => said('retry', 'door-failed', '--edit', file(written)),
  'schedule create': (written) => said('schedule', 'create', file(written), '--cron', '0 3 * * *'),
  'trigger add': (written) =>
    said('trigger', 'add', file({ ...written, trigger: { type: 'event', event: 'door:opens' } })),
  'sentinel/create': (definition) => failureOf({ type: 'command', command: 'sentinel/create', params: { definition } }),
  'sentinel/run': (definition) => failureOf({ type: 'command', command: 'sentinel/run', params: { definition } }),
  'a start at Temporal': (definition) =>
    thrown(
      harness.client.workflow
        .execute(WORKFLOW_TYPE, {
          workflowId: workflowIdOf(`door-raw-${(files += 1)}`),
          taskQueue: harness.taskQueue,
          args: [{ definition, project: harness.project, persona: 'tester' }],
        })
        .catch((error: { cause?: unknown }) => Promise.reject(error.cause)),
    ),
};

describe.each(Object.keys(doors))('%s', (door) => {
  const open = doors[door] ?? (() => Promise.reject(new Error('bug: no such door')));

  test('names all problems at once, and does nothing', async () => {
    const before = (await harness.store.runs.list({ name: 'door' })).length;
    const refusal = await open(
      whole([
        touch('door-acted'),
        { type: 'shel', command: 'true' },
        { type: 'shell' },
        { type: 'sleep', durationMs: -1 },
      ]),
    );
    for (const place of ['steps.1', 'steps.2', 'steps.3']) expect(refusal).toContain(place);
    expect(refusal).not.toMatch(/^taken|^exit 0/);
    const after = await harness.store.runs.list({ name: 'door' });
    expect(after.filter(({ outcome }) => outcome !== 'failed').length).toBe(before);
    expect(existsSync(join(harness.project, 'door-acted'))).toBe(false);
  });

  test('refuses a definition without steps', async () => {
    const { steps: _steps, ...none } = whole([]);
    expect(await open(none)).toMatch(/steps/);
    expect(await open(none)).not.toMatch(/^taken|^exit 0/);
  });
});

const spelled: [string, object, string][] = [
  ['a condition on a step', { type: 'shell', command: 'touch MARK', if: '1 == 2' }, 'nothing'],
  ['another spelling of the command', { type: 'shell', cmd: 'touch MARK' }, 'touched'],
];
const starting: Record<string, (written: JsonObject, handle: string) => Promise<unknown>> = {
  'client.start': (written, handle) =>
    client.start(written as unknown as Definition, { project: harness.project, handle }),
  'client.retry': (written, handle) =>
    client.retry('door-failed', {
      handle,
      definition: {
        ...written,
        steps: [{ type: 'shell', command: 'true' }, ...(written['steps'] as Json[])],
      } as unknown as Definition,
    }),
  run: (written, handle) => harness.command('run', file(written), '--id', handle),
};

describe.each(Object.keys(starting))('by %s', (door) => {
  test.each(spelled)('%s means what it means in a file', async (what, step, becomes) => {
    const handle = `door-${door.replaceAll(/\W/g, '-')}-${what.length}`;
    const mark = `mark-${handle}`;
    const written = JSON.parse(JSON.stringify(whole([step])).replaceAll('MARK', mark)) as JsonObject;
    await starting[door]?.(written, handle);
    expect((await harness.result(handle)).outcome).toBe('completed');
    expect(existsSync(join(harness.project, mark))).toBe(becomes === 'touched');
  });
});

const harmless: JsonObject[] = [
  whole([
    { type: 'shell', command: 'touch fuzzed', outputTo: 'said' },
    { type: 'condition', check: '1 == 2', then: [touch('fuzzed')] },
  ]),
  whole([
    { type: 'set', values: { a: 1 } },
    { type: 'loop', loop: { type: 'count', max: 2 }, steps: [touch('fuzzed')] },
  ]),
  whole([
    { type: 'parallel', over: '[1, 2]', steps: [touch('fuzzed')], outputTo: 'r' },
    { type: 'sleep', ms: 10 },
  ]),
];
const odd: Json[] = [null, 0, '', 'shel', '1 == 2', [], {}, [[]], true, -1];

test('definitions that were changed in several places at random: each is refused, or ends', async () => {
  const places = fc.array(
    fc.record({ at: fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }), put: fc.option(fc.constantFrom(...odd)) }),
    { minLength: 1, maxLength: 3 },
  );
  const outcomes = new Set<string>();
  for (const [base, changes] of fc.sample(fc.tuple(fc.constantFrom(...harmless), places), {
    numRuns: 40,
    seed: 20_261_128,
  })) {
    rmSync(join(harness.project, 'fuzzed'), { force: true });
    let written: Json = structuredClone(base);
    for (const { at, put } of changes) written = changedAt(written, at, put);
    const refused = await thrown(
      client.start(written as unknown as Definition, { project: harness.project, handle: `fuzzed-${(files += 1)}` }),
    );
    const isRefused = refused !== 'taken';
    outcomes.add(isRefused ? 'refused' : 'taken');
    if (isRefused) {
      expect(refused).toMatch(/DEFINITION_INVALID|definition/i);
      expect(existsSync(join(harness.project, 'fuzzed'))).toBe(false);
    } else {
      const { outcome } = await client.result(`fuzzed-${files}`, { signal: AbortSignal.timeout(60_000) });
      expect(['completed', 'failed', 'stopped']).toContain(outcome);
    }
  }
  expect([...outcomes].toSorted()).toEqual(['refused', 'taken']);
});

/** Null: what is there is taken out. */
function changedAt(value: Json, [first = 0, ...rest]: readonly number[], put: Json | null): Json {
  if (typeof value !== 'object' || value === null) return put;
  const keys = Object.keys(value);
  const key = keys[first % Math.max(1, keys.length)];
  if (key === undefined) return put;
  const entries = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
    if (name !== key) return [[name, inner]];
    if (rest.length > 0) return [[name, changedAt(inner, rest, put)]];
    return put === null ? [] : [[name, put]];
  });
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

const edit = async (step: unknown): Promise<unknown> =>
  client.edit('door-held', {
    op: 'update',
    path: 'steps.1',
    step: step as Json,
    revision: (await client.steps('door-held')).revision,
    by: 'ada',
  });

describe('client.edit', () => {
  test.each([
    ['a type that there is not', { type: 'shel', command: 'true' }],
    ['a shell without a command', { type: 'shell' }],
    ['a list without steps', { type: 'loop', loop: { type: 'count', max: 2 }, steps: [] }],
  ])('%s is refused', async (_what, step) => {
    await expect(edit(step)).rejects.toMatchObject({
      code: expect.stringMatching(/INVALID|REFUSED|PROBLEMS/) as string,
    });
  });

  test('names all problems, and takes a spelling for what it means in a file', async () => {
    const two = { type: 'loop', loop: { type: 'count', max: 2 }, steps: [{ type: 'shel' }, { type: 'shell' }] };
    const refusal = await thrown(edit(two));
    for (const place of ['steps.1.steps.0', 'steps.1.steps.1']) expect(refusal).toContain(place);
    await edit({ type: 'shell', cmd: 'touch door-edited', if: '1 == 2' });
    await edit({ type: 'sleep', ms: 30_000, if: 'false' });
    await edit({ type: 'shell', cmd: 'touch door-edited', if: '1 == 1' });
    writeFileSync(join(harness.project, 'go'), '');
    expect((await harness.result('door-held')).outcome).toBe('completed');
    expect(existsSync(join(harness.project, 'door-edited'))).toBe(true);
  });
});
