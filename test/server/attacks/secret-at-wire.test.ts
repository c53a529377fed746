/**
 * A secret that a definition holds, looked for in every byte that goes to a provider: whatever brings it back (files,
 * programs, logs, searches, contexts, failures, results of other steps), in whichever spelling.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import type { ScriptedModel } from '../harness/models/model-runs.ts';
import type { ToolCall } from './attempts/attempt.ts';
import { openAttacked, type Scripts } from './attempts/run-attempts.ts';

const TOKEN = `t/k+${randomBytes(30).toString('base64url')}=`;
const KEY_LINES = Array.from({ length: 4 }, () => randomBytes(24).toString('base64url'));
const KEY = ['-----BEGIN KEY-----', ...KEY_LINES, '-----END KEY-----', ''].join('\n');

let harness: Harness;
let model: ScriptedModel;
const scripts: Scripts = new Map();
beforeAll(async () => {
  harness = await Harness.open();
  process.env['SHOP_TOKEN'] = TOKEN;
  process.env['SIGNING_KEY'] = KEY;
  model = await openAttacked(scripts);
  await harness.startWorker(model.env);
});
afterAll(async () => {
  delete process.env['SHOP_TOKEN'];
  delete process.env['SIGNING_KEY'];
  await harness.close();
  await model.close();
});

/** In the three ways that base64 spells it, by what stands before it. */
function spellings(value: string): string[] {
  const encoded = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const own = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)] as const;
    return (['base64', 'base64url'] as const).map((alphabet) => bytes.toString(alphabet).slice(...own));
  });
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    Buffer.from(value).toString('hex'),
    ...encoded,
  ];
}

const everything = (name: string): string => JSON.stringify(model.turnsOf(name)).replaceAll('\\n', '');

function expectNowhere(name: string): void {
  const sent = everything(name);
  expect(sent.length).toBeGreaterThan(100);
  for (const value of [TOKEN, ...KEY_LINES])
    for (const spelling of spellings(value))
      expect(sent.includes(spelling), `${spelling.slice(0, 6)}… was sent`).toBe(false);
  expect(sent).not.toMatch(/sealed_(?:SHOP_TOKEN|SIGNING_KEY)/);
}

const writes: Step[] = [
  {
    type: 'command',
    command: 'code/write',
    params: { path: 'kept.txt', content: 'token={{env.SHOP_TOKEN}}\n{{env.SIGNING_KEY}}' },
  },
  shell(
    'echo "with $T"; printf %s "$T" | base64; printf "x%s" "$T" | base64; printf %s "$T" | od -An -tx1 | tr -d " \\n"',
    {
      env: { T: '{{env.SHOP_TOKEN}}' },
      outputTo: 'printed',
    },
  ),
  shell('echo "$T" >&2; exit 3', { env: { T: '{{env.SHOP_TOKEN}}' }, outputTo: 'failed' }),
];

const asking = (name: string, told: string, rest: Partial<Definition> = {}): Definition =>
  once(
    name,
    [
      ...writes,
      {
        type: 'llm',
        model: 'openai/some-model',
        prompt: `${name} ${told}`,
        maxTurns: 12,
        tools: ['code/read', 'code/search', 'code/shell/execute', 'rag/build', 'sentinel/logs/read', 'code/write'],
        outputTo: 'answer',
      },
    ],
    { env: ['SHOP_TOKEN', 'SIGNING_KEY'], ...rest },
  );

const looks: readonly ToolCall[] = [
  ['code_read', { path: 'kept.txt' }],
  ['code_read', { path: 'kept.txt', encoding: 'base64' }],
  ['code_search', { pattern: '.', path: 'kept.txt' }],
  ['rag_build', { sources: ['kept.txt'] }],
  ['sentinel_logs_read', { handle: '$HANDLE' }],
  ['code_shell_execute', { command: 'cat kept.txt; base64 kept.txt; base64 -w 0 kept.txt; cat -n kept.txt' }],
  ['code_shell_execute', { command: 'od -An -tx1 kept.txt | tr -d " \\n"; grep -n . kept.txt' }],
  ['code_shell_execute', { command: 'cat kept.txt >&2; exit 1' }],
  ['code_read', { path: 'kept.txt/$(cat kept.txt)' }],
];

test('nothing that a model looks at gives a secret to its provider', async () => {
  scripts.set('looks', { handle: 'wire-looks', turns: looks.map((call) => [call]) });
  const { result } = await harness.run(
    asking('looks', 'Look: {{printed.output}} {{failed.stderr}} {{failed}} {{printed}}', {
      ragSources: ['kept.txt', '{{printed.stdout}}', 'code/read {"path": "kept.txt"}'],
    }),
    { handle: 'wire-looks' },
  );
  expect(result).toMatchObject({ outcome: 'completed' });
  // The files do hold it, and the model was shown them.
  expect(readFileSync(join(harness.project, 'kept.txt'), 'utf8')).toContain(TOKEN);
  expect(everything('looks')).toContain('token=[env SHOP_TOKEN]');
  expectNowhere('looks');
});

test('a model that was not given a secret by name uses none, whatever token it makes up or was shown', async () => {
  scripts.set('guesses', {
    handle: 'wire-guesses',
    turns: [
      [['code_read', { path: 'kept.txt' }]],
      [['code_write', { path: 'copied.txt', content: '[env SHOP_TOKEN] {{env.SHOP_TOKEN}} $env.SHOP_TOKEN' }]],
      [['code_shell_execute', { command: 'rev copied.txt' }]],
    ],
  });
  const { result } = await harness.run(asking('guesses', 'Copy it: {{printed.output}}'), { handle: 'wire-guesses' });
  expect(result).toMatchObject({ outcome: 'completed' });
  expect(readFileSync(join(harness.project, 'copied.txt'), 'utf8')).not.toContain(TOKEN);
  expect(everything('guesses')).not.toContain(Array.from(TOKEN).toReversed().join(''));
  expectNowhere('guesses');
});

test('one that is named in the prompt can be used by the model, and its value stays here', async () => {
  scripts.set('named', { handle: 'wire-named', turns: [] });
  writeFileSync(join(harness.project, 'used.txt'), '');
  let token = '';
  scripts.set('named', {
    handle: 'wire-named',
    get turns(): ToolCall[][] {
      token = /sealed_SHOP_TOKEN_[0-9a-f]{32}/.exec(everything('named'))?.[0] ?? '';
      return [
        [['code_write', { path: 'used.txt', content: `Bearer ${token}` }]],
        [['code_read', { path: 'used.txt' }]],
      ];
    },
  });
  const { result } = await harness.run(asking('named', 'Use {{env.SHOP_TOKEN}} as the bearer'), {
    handle: 'wire-named',
  });
  expect(result).toMatchObject({ outcome: 'completed' });
  expect(token).not.toBe('');
  expect(readFileSync(join(harness.project, 'used.txt'), 'utf8')).toBe(`Bearer ${TOKEN}`);
  for (const spelling of spellings(TOKEN)) expect(everything('named')).not.toContain(spelling);
});
