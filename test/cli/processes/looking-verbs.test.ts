/** Every verb says whether it only looks; those that do start nothing where nothing is up. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERBS } from '../../../cli/verbs.ts';
import { buildCli, type BuiltCli } from './built-cli.ts';

/** Each as it is typed where it would use the services, if it uses them at all. */
const LOOKS: Readonly<Record<string, string>> = {
  init: 'init begun',
  validate: 'validate hello.json',
  normalize: 'normalize hello.json',
  schema: 'schema',
  explain: 'explain hello.json',
  graph: 'graph nightly',
  test: 'test --record nightly',
  simulate: 'simulate hello.json',
  status: 'status nightly',
  list: 'list',
  leases: 'leases',
  trace: 'trace nightly',
  transcript: 'transcript nightly',
  cassette: 'cassette nightly',
  samples: 'samples nightly',
  costs: 'costs nightly',
  incidents: 'incidents what failed',
  diff: 'diff nightly weekly',
  changes: 'changes nightly',
  replay: 'replay nightly',
  logs: 'logs nightly --follow',
  follow: 'follow nightly',
  inbox: 'inbox --clear',
  chat: 'chat general --send hello',
  events: 'events',
  commands: 'commands code/read',
  trust: 'trust --home',
  web: 'web nightly',
  doctor: 'doctor',
};
const IN_GROUPS = [
  'saved list',
  'saved show hello',
  'schedule list',
  'schedule show nightly',
  'trigger list',
  'trigger show nightly',
  'webhook body 0',
  'step list nightly',
  'data list todos',
  'data read todos T-1',
];
const NEED_NO_SERVICES = new Set([
  'commands',
  'init',
  'validate',
  'normalize',
  'schema',
  'explain',
  'simulate',
  'trust',
  'doctor',
]);

let cli: BuiltCli;
beforeAll(async () => {
  cli = await buildCli();
  writeFileSync(
    join(cli.folder, 'hello.json'),
    JSON.stringify({ name: 'hello', steps: [{ type: 'emit', event: 'x' }], loop: { type: 'once' } }),
  );
});
afterAll(() => cli.remove());

describe('a verb that only looks', () => {
  const declared = Object.entries(VERBS).flatMap(([name, { kind }]) => (kind === 'looks' ? [name] : []));

  it('is tried here', () => {
    expect(Object.keys(LOOKS).toSorted()).toEqual(declared.toSorted());
  });

  it('is named by docs/cli.md, and no other is', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'cli.md'), 'utf8');
    const [line = ''] = /^These verbs only look: .*$/m.exec(page) ?? [];
    const named = Array.from(line.matchAll(/`([^`]+)`/g), ([, name = '']) => name);
    expect(named).toEqual([
      ...Object.keys(LOOKS),
      'saved list',
      'saved show',
      'saved keys',
      'schedule list',
      'schedule show',
      'trigger list',
      'trigger show',
      'webhook list',
      'webhook add',
      'webhook test',
      'webhook body',
      'step list',
      'data list',
      'data read',
      'trainer doctor',
    ]);
  });

  it.each([...Object.values(LOOKS), ...IN_GROUPS])('%s starts nothing', async (typed) => {
    const [verb = ''] = typed.split(' ');
    const { code, stderr } = await cli.run(typed.split(' '), { env: { TEMPORAL_ADDRESS: '', DATABASE_URL: '' } });
    if (!NEED_NO_SERVICES.has(verb))
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          /^sentinel: .* is not up, and looking starts nothing: "sentinel up" starts/,
        ) as string,
      });
    expect(existsSync(join(cli.folder, 'home'))).toBe(false);
  });
});
