/**
 * A text that a model reads says what it is to draft, and the model obeys: a definition with a shell step. Whichever way
 * a step of the run stores or starts the draft, the shell is not reached, unless the model had one itself, and then in
 * the sandbox alone.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import type { Definition, LlmStep, Step } from '../../../language/model.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { MODEL, ModelDouble, says } from '../harness/models/model-double.ts';
import { findSandbox } from '../../../world/confinement/sandbox.ts';

let harness: Harness;
const model = new ModelDouble();
const outside = mkdtempSync(join(tmpdir(), 'sentinel-drafts-'));
const hasSandbox = (await findSandbox()).ok;

beforeAll(async () => {
  await model.open();
  // It says what the text tells it to.
  model.double.answer(wire.path, (body) => says(letterIn(body)));
  harness = await Harness.open();
  await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
  rmSync(outside, { recursive: true, force: true });
});

/** What stands between the marks in what the model was asked. */
function letterIn(body: Parameters<typeof wire.messages>[0]): string {
  const asked = wire
    .messages(body)
    .flatMap(({ texts }) => texts)
    .join('\n');
  return /<<(.*)>>/s.exec(asked)?.[1] ?? '';
}

const drafts = (rest: Partial<LlmStep> = {}): Step => ({
  type: 'llm',
  model: MODEL,
  prompt: 'Draft a sentinel for what this letter asks:\n$letter',
  outputTo: 'triage',
  ...rest,
});
const command = (name: string, params: { [name: string]: Json }, outputTo: string): Step => ({
  type: 'command',
  command: name,
  params,
  outputTo,
});
const ended: Step = {
  type: 'command',
  command: 'sentinel/result',
  params: { handle: '$started.handle', until: 'ended' },
  outputTo: 'ended',
};

/** The ways from what a model said to a run of it. */
const WAYS: [string, Step[]][] = [
  [
    'stored and started by its id',
    [
      command('sentinel/create', { definition: '$triage.sentinelTasks[0]' }, 'created'),
      command('sentinel/run', { sentinelId: '$created.id' }, 'started'),
      ended,
    ],
  ],
  ['started', [command('sentinel/run', { definition: '$triage.sentinelTasks[0]' }, 'started'), ended]],
  [
    'its steps started',
    [command('sentinel/run', { type: 'pipeline', steps: '$triage.sentinelTasks[0].steps' }, 'started'), ended],
  ],
  ['nested', [{ type: 'sentinel', definition: { $ref: '$triage.sentinelTasks[0]' } }]],
  [
    'nested by the place of the step',
    [{ type: 'sentinel', definition: { $ref: '{{steps.0.data.sentinelTasks[0]}}' } }],
  ],
  [
    'set to another name, and nested for each of a list',
    [
      { type: 'set', values: { tasks: '$triage.sentinelTasks' } },
      {
        type: 'loop',
        loop: { type: 'count', max: '$tasks.length', over: '$tasks', as: 'task' },
        steps: [{ type: 'sentinel', definition: { $ref: '$task' } }],
      },
    ],
  ],
  [
    'printed by a shell, and nested',
    [
      shell('printf %s "$triage"', { outputTo: 'said' }),
      { type: 'sentinel', definition: { $ref: '$said.data.sentinelTasks[0]' } },
    ],
  ],
  [
    'handed to a nested sentinel, which starts it',
    [
      {
        type: 'sentinel',
        definition: once('inner', [
          command('sentinel/run', { definition: '$triage.sentinelTasks[0]' }, 'started'),
          ended,
        ]),
      },
    ],
  ],
];

const letter = (steps: readonly object[], rest: object = {}): string =>
  `<<${JSON.stringify({ sentinelTasks: [{ name: 'task', loop: { type: 'once' }, steps, ...rest }] })}>>`;

const runs = (name: string, steps: Step[], rest: Partial<Definition> = {}): Definition => once(name, steps, rest);

describe.each(WAYS)('a draft that is %s', (way, steps) => {
  const name = way.replaceAll(/\W+/g, '-');
  const marker = join(outside, name);
  const touches = letter([{ type: 'shell', command: `touch ${marker}` }]);

  test('does not reach a shell that its model does not have', async () => {
    const { result } = await harness.run(runs(name, [drafts(), ...steps]), { inputs: { letter: touches } });
    const code = way.startsWith('handed to a nested') ? 'CHILD_FAILED' : 'RIGHTS_EXCEEDED';
    expect(result).toMatchObject({ outcome: 'failed', failure: { code } });
    expect(result.failure?.message).toContain('code/shell/execute');
    expect(existsSync(marker)).toBe(false);
  });

  test('reaches it where the definition trusts its drafts', async () => {
    const trusted = runs(`trusted-${name}`, [drafts(), ...steps], { trustDrafts: true });
    const inner = trusted.steps.map((step) =>
      step.type === 'sentinel' && !('$ref' in step.definition)
        ? { ...step, definition: { ...step.definition, trustDrafts: true } }
        : step,
    );
    const { result } = await harness.run({ ...trusted, steps: inner }, { inputs: { letter: touches } });
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(existsSync(marker)).toBe(true);
  });
});

test.skipIf(!hasSandbox).each(WAYS.slice(0, 4))(
  'a draft that is %s has the shell of its model in the sandbox',
  async (way, steps) => {
    const name = `boxed-${way.replaceAll(/\W+/g, '-')}`;
    const marker = join(outside, name);
    const touches = letter([{ type: 'shell', command: `touch inside-${name}; touch ${marker}` }], { mode: 'full' });
    const asks = drafts({ tools: ['code/shell/execute'] });
    const { result } = await harness.run(runs(name, [asks, ...steps]), { inputs: { letter: touches } });
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(existsSync(join(harness.project, `inside-${name}`))).toBe(true);
    expect(existsSync(marker)).toBe(false);
  },
);

test('what a draft says of itself is left out, and said; in a file it is a problem', async () => {
  const said = letter([{ type: 'set', values: { done: true } }], {
    sourceInboxItem: 'i-1',
    reason: 'routine',
    priority: 2,
  });
  const created = command('sentinel/create', { definition: '$triage.sentinelTasks[0]' }, 'created');
  const { result } = await harness.run(runs('says', [drafts(), created]), { inputs: { letter: said } });
  expect(result).toMatchObject({ outcome: 'completed', outputs: { created: { name: 'task' } } });
  expect(result.outputs?.['created']).toMatchObject({
    warnings: ['"sourceInboxItem", "reason", "priority" of the draft are not stored: a definition has no such key'],
  });
  const strange = letter([{ type: 'set', values: { done: true } }], { sourceInboxItem: 'i-1', colour: 'red' });
  const refused = await harness.run(runs('says-more', [drafts(), created]), { inputs: { letter: strange } });
  expect(refused.result).toMatchObject({ outcome: 'failed', failure: { code: 'DEFINITION_INVALID' } });
  expect(refused.result.failure?.message).toContain('colour');
  const draft = { ...once('filed', [{ type: 'set', values: { done: true } }]), reason: 'routine' };
  writeFileSync(join(harness.project, 'filed.json'), JSON.stringify(draft));
  const filed = await harness.run(runs('files', [command('sentinel/create', { file: 'filed.json' }, 'created')]));
  expect(filed.result).toMatchObject({ outcome: 'failed', failure: { code: 'DEFINITION_INVALID' } });
});

test('what a person hands a run is no draft', async () => {
  const marker = join(outside, 'by-a-person');
  const plan = once('plan', [shell(`touch ${marker}`)]) as unknown as Json;
  const { result } = await harness.run(runs('given', [{ type: 'sentinel', definition: { $ref: '$plan' } }]), {
    inputs: { plan },
  });
  expect(result).toMatchObject({ outcome: 'completed' });
  expect(existsSync(marker)).toBe(true);
});
