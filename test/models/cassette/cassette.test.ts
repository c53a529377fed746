/** Cassettes without a run: what makes two requests one, the file, and the nearest request. */
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { StoredRequest } from '../../../prisma/store/contract/models/cassette-contract.ts';
import { cassetteText, readCassette, type CassetteEntry } from '../../../world/models/cassette/cassette.ts';
import { nearestTo } from '../../../world/models/cassette/nearest.ts';
import { placeOf } from '../../../world/git/worktrees/workspace-place.ts';
import { Placeholders } from '../../../world/models/cassette/placeholders.ts';
import { entryOf } from '../../../world/models/cassette/record-cassette.ts';
import { formOf, type RequestForm, type RequestHead } from '../../../world/models/cassette/request-form.ts';

const ada = { project: '/srv/ada/shop', root: '4d6f1c0e-8c55-4a06-b1ac-0d5f0a3f1111' };
const ben = { project: '/srv/builds/shop-2', root: '77777777-8c55-4a06-b1ac-0d5f0a3f2222' };

const user = (text: string): JsonObject => ({ role: 'user', blocks: [{ type: 'text', text }] });
const result = (text: string): JsonObject => ({
  role: 'user',
  blocks: [{ type: 'tool-result', callId: 'call-1', content: [{ type: 'text', text }], isError: false }],
});
const head = (more: JsonObject = {}): JsonObject => ({
  asked: 'openai/some-model',
  model: {
    name: 'openai/some-model',
    provider: 'openai',
    model: 'some-model',
    facts: { window: 1000, tools: true },
    reason: null,
    notices: [],
  },
  settings: { system: 'Be brief.', ...more },
});
const reply = (text: string): JsonObject => ({
  reply: {
    blocks: [{ type: 'text', text }],
    stopReason: 'end',
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false },
    model: 'some-model',
    author: 'openai/some-model',
    requestId: null,
    omitted: [],
  },
});
const stored = (root: string, messages: JsonObject[], more: Partial<StoredRequest> = {}): StoredRequest => ({
  handle: root,
  conversation: 'steps.0@1',
  turn: 1,
  asker: 'steps.0@1/turn.1',
  head: head(),
  messages,
  outcome: reply('Done.'),
  ...more,
});

const digest = (messages: JsonObject[], at = ada, more: JsonObject = {}): string =>
  entryOf({ ...stored(at.root, messages), head: head(more) }, at).digest;

const picture = (data: string): JsonObject => ({
  role: 'user',
  blocks: [{ type: 'image', mediaType: 'image/png', data }],
});

describe('the digest of a request', () => {
  test('is the same in another project, under another handle, with other ids and times', () => {
    const said = ({ project, root }: typeof ada, id: string, at: string, ms: number): JsonObject[] => [
      user(`Look at ${project}/src of ${root}/steps.2@1`),
      result(`{"id":"${id}","createdAt":"${at}","durationMs":${ms},"text":"took ${ms} ms"}`),
      user(`and at ${id} again`),
    ];
    const one = said(ada, '11111111-2222-4333-8444-555555555555', '2026-11-25T18:40:25.123Z', 12);
    const other = said(ben, 'aaaaaaaa-2222-4333-8444-555555555555', '2027-01-02T03:04:05Z', 99.5);
    expect(digest(other, ben)).toBe(digest(one, ada));
  });

  test('is the same in a workspace, wherever those of the project lie', () => {
    const said = (at: typeof ada): JsonObject[] => [
      user(`Work in ${placeOf(at.project)}/feature-login, not in ${at.project}`),
    ];
    expect(placeOf(ada.project)).not.toBe(placeOf(ben.project));
    expect(digest(said(ben), ben)).toBe(digest(said(ada), ada));
  });

  test('is the same whatever the order of fields, and whatever is kept of a message besides', () => {
    const turned = { prompt: 'told', by: 'ada', blocks: [{ text: 'Hello?', type: 'text' }], role: 'user' };
    expect(digest([turned])).toBe(digest([user('Hello?')]));
  });

  test.each<[string, JsonObject[], JsonObject]>([
    ['a word of a message', [user('Hello!')], {}],
    [
      'which id is meant',
      [user('11111111-2222-4333-8444-555555555555'), user('11111111-2222-4333-8444-555555555555')],
      {},
    ],
    ['a setting', [user('Hello?')], { temperature: 0.5 }],
    ['the system text', [user('Hello?')], { system: 'Be long.' }],
    ['a tool', [user('Hello?')], { tools: [{ name: 'code/read', description: 'Reads.', parameters: {} }] }],
    ['a duration that is no result', [user('Wait 5 s')], {}],
  ])('is another with another: %s', (_, messages, more) => {
    const before = [
      [user('Hello?')],
      [user('11111111-2222-4333-8444-555555555555'), user('99999999-2222-4333-8444-555555555555')],
      [user('Wait 6 s')],
    ].map((one) => digest(one));
    expect(before).not.toContain(digest(messages, ada, more));
  });

  test('tells a picture by its content, and the file does not hold it', () => {
    expect(digest([picture('aaaa')])).not.toBe(digest([picture('bbbb')]));
    expect(JSON.stringify(entryOf(stored(ada.root, [picture('aaaa')]), ada).request)).not.toContain('aaaa');
  });

  test('a handle that may be a word of the text stays', () => {
    const at = { project: '/p/x', root: 'nightly' };
    expect(JSON.stringify(entryOf(stored('nightly', [user('the nightly build')]), at).request)).toContain(
      'the nightly build',
    );
  });
});

const token = (digit: string): string => `sealed_API_KEY_${digit.repeat(32)}`;

test('a recorded answer names what the run that replays it has: its project, its ids, its secrets', () => {
  const id = { ada: '11111111-2222-4333-8444-555555555555', ben: 'aaaaaaaa-2222-4333-8444-555555555555' };
  const recorded = new Placeholders(ada);
  recorded.request([user(`${id.ada} ${token('a')}`)]);
  const kept = recorded.answer({
    path: `${ada.project}/a.ts`,
    id: id.ada,
    secret: token('a'),
    run: ada.root,
    other: '99999999-2222-4333-8444-555555555555',
    at: '2026-11-25T18:40:25Z',
  });
  expect(JSON.stringify(kept)).not.toContain(ada.project);
  expect(JSON.stringify(kept)).not.toContain('sealed_');
  const replayed = new Placeholders(ben);
  replayed.request([user(`${id.ben} ${token('b')}`)]);
  expect(replayed.filled(kept)).toEqual({
    path: `${ben.project}/a.ts`,
    id: id.ben,
    secret: token('b'),
    run: ben.root,
    // What the request did not hold is as it was recorded.
    other: '99999999-2222-4333-8444-555555555555',
    at: '2026-11-25T18:40:25Z',
  });
});

function conversation(): CassetteEntry[] {
  const tools = { tools: [{ name: 'code/read', description: 'Reads.', parameters: { type: 'object' } }] };
  const first = [user('Look at a.txt')];
  const second = [...first, { role: 'assistant', blocks: [{ type: 'text', text: 'I do.' }] }, result('what a says')];
  return [
    entryOf({ ...stored(ada.root, first), head: head(tools) }, ada),
    entryOf({ ...stored(ada.root, second, { turn: 2 }), head: head(tools) }, ada),
    entryOf(stored(`${ada.root}/steps.1@1`, [user('Hello?')]), ada),
  ];
}

describe('the file', () => {
  const cassette = { name: 'review', definitionHash: 'abc', entries: conversation() };

  test('is read as it was written, and says once what repeats', () => {
    const text = cassetteText(cassette);
    expect(readCassette(text)).toEqual({ ok: true, cassette });
    expect(text.split('Look at a.txt')).toHaveLength(2);
    expect(text.split('"Reads."')).toHaveLength(2);
    expect(text).not.toContain(ada.root);
    const { requests } = JSON.parse(text) as { requests: { at: unknown; request: { continues?: unknown } }[] };
    expect(requests.map(({ at, request }) => [at, request.continues])).toEqual([
      [{ run: '', key: 'steps.0@1', turn: 1 }, undefined],
      [
        { run: '', key: 'steps.0@1', turn: 2 },
        { entry: 0, messages: 1 },
      ],
      [{ run: 'steps.1@1', key: 'steps.0@1', turn: 1 }, undefined],
    ]);
  });

  /** The problems of the file with another value in one place; without the place where none is given. */
  const broken = (place: readonly (string | number)[], value?: Json): string[] => {
    const changed = (whole: Json, [first, ...rest]: readonly (string | number)[]): Json => {
      if (first === undefined) return value ?? null;
      if (Array.isArray(whole)) return whole.map((item, index) => (index === first ? changed(item, rest) : item));
      const { [first]: inner = null, ...others } = whole as JsonObject;
      return rest.length === 0 && value === undefined ? others : { ...others, [first]: changed(inner, rest) };
    };
    const read = readCassette(JSON.stringify(changed(JSON.parse(cassetteText(cassette)) as Json, place)));
    return read.ok ? [] : read.problems;
  };

  test('what is no cassette is said to be none', () => {
    expect(readCassette('{')).toMatchObject({ ok: false, problems: [expect.stringMatching(/^it is no JSON/)] });
    expect(readCassette('[]')).toMatchObject({ ok: false, problems: [expect.stringMatching(/^the file: /)] });
  });

  const message = ['request', 'messages', 0];
  test.each<[(string | number)[], Json | undefined, RegExp]>([
    [['sentinelCassette'], 7, /^sentinelCassette: must be 1/],
    [['requests', 1, ...message, 'role'], 'nobody', /^requests\[1\]\.request\.messages\[0\]\.role: /],
    [['requests', 0, ...message, 'blocks', 0, 'text'], 'another', /^requests\[0\]\.digest: the request was changed/],
    [['requests', 1, 'request', 'continues', 'entry'], 2, /^requests\[1\]\.request\.continues: /],
    [['requests', 2, 'model'], 9, /^requests\[2\]\.model: there is no models\[9\]$/],
    [['requests', 0, 'request', 'tools'], 9, /^requests\[0\]\.request\.tools: there is no tools\[9\]$/],
    [['requests', 0, 'reply'], undefined, /^requests\[0\]: it must hold either a reply or a failure$/],
  ])('a problem at %j names its place', (place, value, problem) => {
    expect(broken(place, value)[0]).toMatch(problem);
  });
});

const asked = (messages: JsonObject[], more: JsonObject = {}): RequestForm =>
  formOf(head(more) as unknown as RequestHead, messages);

describe('the nearest request', () => {
  const entries = conversation();

  test('is shown by what is different, a line for each', () => {
    const tools = { tools: [{ name: 'code/read', description: 'Reads.', parameters: { type: 'object' } }] };
    const request = asked([user('Look at b.txt')], tools);
    const nearest = nearestTo(request, { run: '', key: 'steps.0@1', turn: 1 }, entries);
    expect(nearest?.index).toBe(0);
    expect(nearest?.difference.filter((line) => /^[-+]/.test(line))).toEqual([
      '-user: Look at a.txt',
      '+user: Look at b.txt',
    ]);
  });

  test('is one of the same step where two are as like', () => {
    const twins = [1, 2].map((turn) => entryOf(stored(ada.root, [user('Hello?')], { turn }), ada));
    const nearest = nearestTo(asked([user('Hello!')]), { run: '', key: 'steps.0@1', turn: 2 }, twins);
    expect(nearest?.index).toBe(1);
  });

  test('where nothing that is shown differs, that is said; a long difference is cut; of nothing there is none', () => {
    const [, , entry] = entries;
    if (entry === undefined) throw new Error('there are three');
    const same = nearestTo(entry.request, entry.at, [entry]);
    expect(same?.difference).toEqual([expect.stringMatching(/^\(they differ in what is not shown/)]);
    const long = asked([user(Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n'))]);
    expect(nearestTo(long, entry.at, [entry])?.difference.at(-1)).toMatch(/^\(and \d+ more lines\)$/);
    expect(nearestTo(long, entry.at, [])).toBeNull();
  });
});
