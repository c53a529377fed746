/**
 * What became of a run, counted outside of it: rows, files, what servers were told, what models were paid for. A run
 * that nothing disturbed says what another of its kind has to come to; promises.ts says what may be more.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client } from 'pg';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Json } from '../../../language/json.ts';
import type { Run } from '../../../prisma/store/contract/contract.ts';
import { steady, type Harness } from '../../server/harness/harness.ts';
import { shapeOf } from '../../server/harness/trace-shape.ts';
import { promisedFor, type Channel } from '../promises.ts';
import { COLLECTION } from './kind-steps.ts';
import { kindOfId, type KindName } from './kinds.ts';
import { LINES_INSIDE } from './shell-kinds.ts';
import type { Noted, Outside } from './outside.ts';

export interface Finding {
  what: 'lost' | 'twice' | 'other';
  kind: KindName | 'background';
  id: string;
  finding: string;
}

export type Counts = Map<string, number>;

/** Everything that was counted, by what it belongs to. */
export interface Counted {
  effects: Map<string, Map<Channel, Counts>>;
  tasks: { ticks: string[]; sweeps: string[] };
  /** Of each run, by its id: how it and the runs nested in it ended. */
  runs: Map<string, Run>;
  events: Map<string, RunEvent[]>;
  /** When the answer of a turn was kept, and when a model at the wire was asked for one. */
  answered: Noted[];
  asked: readonly Noted[];
  groups: { id: string; at: string }[];
}

const SQL: readonly (readonly [Channel, string])[] = [
  ['record', `select data->>'run' as id, data->>'at' as what from records where collection = '${COLLECTION}'`],
  ['published', `select data->>'id' as id, data->>'data' as what from published_events where name = 'campaign:said'`],
  ['added', 'select run as id, what from camp_added'],
  ['heard', 'select run as id, what from camp_heard'],
  [
    'said',
    `select split_part(message, ' ', 1) as id, split_part(message, ' ', 2) as what from chat_messages where room = 'campaign'`,
  ],
  [
    'question',
    `select handle as id, id || ' ' || state || ' ' || coalesce(answer->>'choice', '') as what from inbox where state <> 'told' and id not like '%:unknown'`,
  ],
  [
    'checkpoint',
    String.raw`select distinct handle as id, regexp_replace(key, '(/call\.\d+)#[\d.]+', '\1') || case when before is null then ' without a state' else '' end as what from checkpoints`,
  ],
];

const count = (effects: Counted['effects'], channel: Channel, id: string, what: string): void => {
  const channels = effects.get(id) ?? new Map<Channel, Counts>();
  effects.set(id, channels);
  const counts = channels.get(channel) ?? new Map<string, number>();
  channels.set(channel, counts);
  counts.set(what, (counts.get(what) ?? 0) + 1);
};

const linesOf = (path: string): [id: string, what: string][] =>
  (existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []).flatMap((line): [string, string][] => {
    const [id, what] = line.split(' ');
    return id === undefined || what === undefined ? [] : [[id, what]];
  });

/** The branches and the commits of a project. */
function gitSays(project: string): [id: string, what: string][] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: project, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [
    ...git('for-each-ref', '--format=%(refname:short)', 'refs/heads').map((id): [string, string] => [id, 'branch']),
    ...git('log', '--format=%s').map((subject): [string, string] => [subject.split(' ')[0] ?? '', 'commit']),
  ];
}

/** A request that an attempt has sent before another one's answer was kept. */
const onItsWayMs = 1_500;

export interface Places {
  lines: string;
  calls: string;
}

export async function countAll(harness: Harness, outside: Outside, places: Places): Promise<Counted> {
  const effects: Counted['effects'] = new Map();
  const sql = new Client({ connectionString: harness.databaseUrl });
  await sql.connect();
  try {
    for (const [channel, query] of SQL) {
      const { rows } = await sql.query<{ id: string; what: string | null }>(query);
      for (const { id, what } of rows) count(effects, channel, rootOf(id), placeIn(id) + (what ?? ''));
    }
    const runs = new Map((await harness.store.runs.list({ limit: 100_000 })).map((run) => [run.handle, run]));
    for (const run of runs.values()) noteRun(effects, run, runs);
    for (const path of [places.lines, join(harness.project, LINES_INSIDE)])
      for (const [id, what] of linesOf(path)) count(effects, 'line', id, what);
    for (const [id, what] of gitSays(harness.project)) count(effects, 'file', id, what);
    for (const [id, what] of linesOf(places.calls)) count(effects, 'call', id, what);
    for (const [channel, noted] of [
      ['post', outside.posts],
      ['turn', outside.turns],
      ['notice', outside.notices],
    ] as const)
      for (const { id, what } of noted) count(effects, channel, id, what);
    for (const folder of ['files', 'undone'])
      for (const name of existsSync(join(harness.project, folder)) ? readdirSync(join(harness.project, folder)) : [])
        count(
          effects,
          'file',
          name.replace(/\.txt$/, '').replace(/\.second$/, ''),
          `${folder} ${readFileSync(join(harness.project, folder, name), 'utf8')}`,
        );
    const texts = async (query: string): Promise<string[]> =>
      (await sql.query<{ what: string }>(query)).rows.map(({ what }) => what);
    const { rows: answered } = await sql.query<{ id: string; what: string; at: Date }>(
      `select handle as id, 'turn ' || turn as what, answered_at as at from turns where answered_at is not null`,
    );
    const { rows: groups } = await sql.query<{ id: string; at: string }>(
      `select data->>'run' as id, data->>'at' as at from records where collection = '${COLLECTION}' and data->>'at' in ('began', 'ended') order by position`,
    );
    const events = new Map<string, RunEvent[]>();
    for (const handle of runs.keys())
      if (kindOfRun(handle, runs) !== null) events.set(handle, await harness.events(handle));
    return {
      effects,
      tasks: {
        ticks: await texts('select key as what from camp_tick order by id'),
        sweeps: await texts('select key as what from camp_sweep order by id'),
      },
      runs,
      events,
      answered: answered.map(({ at, ...of }) => ({ ...of, at: at.getTime() })),
      asked: outside.turns,
      groups,
    };
  } finally {
    await sql.end();
  }
}

/** `c-nested-1/steps.0@1` belongs to `c-nested-1`. */
export const rootOf = (handle: string): string => handle.split('/')[0] ?? handle;
const placeIn = (handle: string): string => {
  const inner = handle.split('/').slice(1).join('/');
  return inner === '' ? '' : `${inner} `;
};

export const idOfRun = ({ handle, inputs }: Run): string => {
  const { event, id } = inputs as { event?: { run?: string }; id?: string };
  if (handle.startsWith('s-')) return id ?? handle;
  return event?.run ?? rootOf(handle);
};

export const kindOfRun = (handle: string, runs: ReadonlyMap<string, Run>): KindName | null => {
  const run = runs.get(rootOf(handle));
  return run === undefined ? null : kindOfId(idOfRun(run));
};

function noteRun(effects: Counted['effects'], run: Run, runs: ReadonlyMap<string, Run>): void {
  const id = idOfRun(run);
  if (run.handle.includes('/'))
    count(effects, 'nested', rootOf(run.handle), `${placeIn(run.handle)}${run.outcome ?? ''}`);
  else if (run.startedBy === 'trigger') count(effects, 'triggered', id, run.outcome ?? 'open');
  else if (run.startedBy === 'schedule') count(effects, 'scheduled', id, run.outcome ?? 'open');
  else if (run.startedBy === 'step') {
    const by = [...runs.values()].find(
      ({ outputs }) => (outputs?.['run'] as { handle?: string } | undefined)?.handle === run.handle,
    );
    if (by !== undefined) count(effects, 'started', by.handle, run.outcome ?? 'open');
  }
}

/** What a run of a kind comes to, with its own name left out. */
export interface Expected {
  shape: readonly string[];
  outputs: Json;
  outcome: string;
  effects: ReadonlyMap<Channel, Counts>;
  nested: ReadonlyMap<string, readonly string[]>;
}

/** What tells one run from another. */
const nameless = (text: string, id: string, handle: string): string =>
  text
    .replaceAll(handle, 'ID')
    .replaceAll(id, 'ID')
    .replaceAll(/exec-[0-9a-f]{20}|run-[0-9a-f]{16}/g, 'ID');

/** Said of what a death did, or another run that holds the group, and by no run that is alone and that none disturbed. */
const SAID_OF_DEATHS =
  /warning (?:CALL_REPEATED|CALL_IN_DOUBT|STEP_REPEATED|SHELL_REPEATED|SHELL_OUTCOME_UNKNOWN|MODEL_)|^group waiting$|:unknown (?:asked|answered)/;

/** What has lost its worker and its keeper counts as done where the step says so. */
const UNKNOWN_SHELL = 'skipped SHELL_OUTCOME_UNKNOWN';

/** A call that was in doubt is decided upon again, under a key of its own. */
const REPEATED_CALL = /\/call\.\d+(?:#[\d.]+)? command/;

/** A step says of its log that the database was away while it was to be written. */
const withoutOutage = (name: string, field: unknown): unknown => (name === 'logIncomplete' ? undefined : field);

export function seenOf(counted: Counted, id: string, handle: string): Expected | null {
  const run = counted.runs.get(handle);
  if (run === undefined || run.finishedAt === null) return null;
  const shape = (of: string): string[] =>
    shapeOf(counted.events.get(of) ?? [])
      .filter((line) => !SAID_OF_DEATHS.test(line) && !REPEATED_CALL.test(line))
      .map((line) => nameless(line.replace(UNKNOWN_SHELL, 'ok'), id, handle));
  const effects = new Map<Channel, Counts>();
  for (const [channel, counts] of [
    ...(counted.effects.get(id) ?? []),
    ...(id === handle ? [] : (counted.effects.get(handle) ?? [])),
  ]) {
    const named = effects.get(channel) ?? new Map<string, number>();
    for (const [what, times] of counts) named.set(nameless(what, id, handle), times);
    effects.set(channel, named);
  }
  const nested = [...counted.runs.keys()].filter((other) => other.startsWith(`${handle}/`)).toSorted();
  return {
    shape: shape(handle),
    outputs: JSON.parse(nameless(JSON.stringify(steady(run.outputs), withoutOutage), id, handle)) as Json,
    outcome: `${run.status} ${run.outcome ?? ''} ${run.limit ?? ''} ${run.failure?.code ?? ''} ${run.iterations}`,
    effects,
    nested: new Map(nested.map((other) => [other.slice(handle.length), shape(other)])),
  };
}

export interface Judged {
  kind: KindName;
  id: string;
  handle: string;
  /** Deaths while it was under way. */
  deaths: number;
  /** Workers that were lost after they had been at it, also once it had ended. */
  lost: number;
}

/** Outputs that hold how long a process took, or which one it was. */
const VARYING = new Set<KindName>(['background', 'large']);

export function judge(counted: Counted, expected: Expected, run: Judged): Finding[] {
  const { kind, id } = run;
  const findings: Finding[] = [];
  const found = (what: Finding['what'], finding: string): void => void findings.push({ what, kind, id, finding });
  const seen = seenOf(counted, id, run.handle);
  if (seen === null) {
    found('lost', 'the run did not end');
    return findings;
  }
  if (seen.outcome !== expected.outcome)
    found(
      'other',
      `it ended as "${seen.outcome}", and undisturbed as "${expected.outcome}": ${counted.runs.get(run.handle)?.failure?.message ?? ''}`,
    );
  if (!VARYING.has(kind) && !isDeepStrictEqual(seen.outputs, expected.outputs))
    found(
      'other',
      `its outputs are ${JSON.stringify(seen.outputs)}, and undisturbed ${JSON.stringify(expected.outputs)}`,
    );
  const inOrder = (shape: readonly string[]): readonly string[] => {
    // Items of a list end as they like; a run that is ended from outside walks no more, and its worker may not have told all.
    if (kind === 'items') return shape.toSorted();
    return kind === 'abandoned' || kind === 'terminated' ? shape.filter((line) => !UNTOLD.test(line)) : shape;
  };
  const difference = firstDifference(inOrder(seen.shape), inOrder(expected.shape));
  if (difference !== null) found('other', `its events differ: ${difference}`);
  for (const [place, shape] of expected.nested) {
    const inner = firstDifference(seen.nested.get(place) ?? [], shape);
    if (inner !== null) found('other', `the events of ${place} differ: ${inner}`);
  }
  for (const what of paidAgain(counted, id)) found('twice', `${what} was paid for after its answer was kept`);
  for (const fault of disorder(counted.events.get(run.handle) ?? [])) found('other', fault);
  for (const channel of new Set([...expected.effects.keys(), ...seen.effects.keys()])) {
    const wanted = channel === 'line' && isUnknown(counted, run) ? new Map() : expected.effects.get(channel);
    const more = wanted?.size === 0 ? 1 : repeatsOf(channel, counted, run);
    judgeChannel(channel, wanted, seen.effects.get(channel), more, found);
  }
  return findings;
}

/** Nobody knows of its command whether it ran, by its own word: it did so once, or not at all. */
const isUnknown = ({ events }: Counted, { handle }: Judged): boolean =>
  (events.get(handle) ?? []).some(
    (event) => event.type === 'step-finished' && event.failure?.code === 'SHELL_OUTCOME_UNKNOWN',
  );

/** Turns whose answer was there, and for which a model was asked all the same. */
const paidAgain = ({ answered, asked }: Counted, id: string): string[] =>
  answered
    .filter((kept) => kept.id === id && kindOfId(id) !== 'compact')
    .filter((kept) => asked.some((one) => one.id === id && one.what === kept.what && one.at > kept.at + onItsWayMs))
    .map(({ what }) => what);

const UNTOLD = /^(?:run-started$|steps\.1@1 (?:shell|watch) )/;

/** How often more than promised an effect may be there. */
function repeatsOf(channel: Channel, counted: Counted, { handle, deaths, lost }: Judged): number {
  switch (promisedFor(channel)) {
    case 'once':
      return 0;
    case 'once for each decision': {
      const said = (counted.events.get(handle) ?? []).filter(
        (event) => event.type === 'warning' && event.code === 'CALL_REPEATED',
      );
      return said.length;
    }
    case 'paid once':
    case 'at least once':
      // What is said of a run is said after its end.
      return channel === 'notice' ? lost : deaths;
    default:
      throw new Error(`bug: nothing is promised for ${channel}`);
  }
}

function judgeChannel(
  channel: Channel,
  expected: Counts = new Map(),
  seen: Counts = new Map(),
  repeats: number,
  found: (what: Finding['what'], finding: string) => void,
): void {
  for (const what of new Set([...expected.keys(), ...seen.keys()])) {
    const [wanted, times] = [expected.get(what) ?? 0, seen.get(what) ?? 0];
    if (times < wanted) found('lost', `${channel} "${what}" is there ${times} times of ${wanted}`);
    if (times > wanted + repeats)
      found(
        'twice',
        `${channel} "${what}" is there ${times} times, and ${wanted} were to be (${repeats} may be repeated)`,
      );
  }
}

function firstDifference(seen: readonly string[], expected: readonly string[]): string | null {
  const at = expected.findIndex((line, index) => seen[index] !== line);
  if (at === -1 && seen.length === expected.length) return null;
  const place = at === -1 ? expected.length : at;
  return `line ${place + 1} is "${seen[place] ?? ''}", and undisturbed "${expected[place] ?? ''}"`;
}

/** What no order of events has: one that ends what did not begin, twice, or after the end. */
function disorder(events: readonly RunEvent[]): string[] {
  const keys = (type: RunEvent['type']): string[] =>
    events.filter((event) => event.type === type).map(({ key }) => key);
  const [started, finished] = [keys('step-started'), keys('step-finished')];
  const numbers = events.map(({ seq }) => seq);
  return [
    ...(new Set(finished).size === finished.length ? [] : ['a step ended twice']),
    ...(new Set(started).size === started.length ? [] : ['a step began twice']),
    ...started.filter((key) => !finished.includes(key)).map((key) => `${key} began, and has no end`),
    ...(numbers.every((seq, index) => index === 0 || seq > (numbers[index - 1] ?? 0))
      ? []
      : ['events are out of order']),
    ...(keys('run-finished').length === 1 ? [] : ['the run has not exactly one end']),
  ];
}

/** What belongs to no run: background work, each time once; runs of a group, one after the other. */
export function judgeBesides({ tasks, groups, effects }: Counted): Finding[] {
  const findings: Finding[] = [];
  const found = (what: Finding['what'], finding: string): void =>
    void findings.push({ what, kind: 'background', id: '', finding });
  if (new Set(tasks.ticks).size !== tasks.ticks.length)
    found('twice', 'a quick background task was done twice at one time');
  if (new Set(tasks.sweeps).size !== tasks.sweeps.length)
    found('twice', 'a long background task was done twice at one time');
  const numbers = tasks.ticks.map((key) => Number(key.split('/').at(-1)));
  if (numbers.some((number, index) => number !== index))
    found('lost', `the times of a quick background task are not whole: ${numbers.join(' ')}`);
  if (tasks.ticks.length === 0 || tasks.sweeps.length === 0) found('lost', 'nothing was done in the background');
  let holder: string | null = null;
  for (const { id, at } of groups) {
    if (at === 'began' && holder !== null) found('other', `${id} began while ${holder} had the group`);
    holder = at === 'began' ? id : null;
  }
  for (const id of effects.keys())
    if (kindOfId(id) === null && id.startsWith('c-')) found('other', `effects of an unknown run ${id}`);
  return findings;
}

export type { Noted };
