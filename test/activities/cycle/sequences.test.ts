/**
 * Random sequences of steps, answers, a person's edits and lost workers, over a real store and real files. Nothing is
 * written without a person's answer to exactly that; rows, history and events say the same; and no edge is taken but
 * those of the table, of which each is taken. A failure prints its seed and its shortest case.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Choice } from '../../../language/events/question.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { RunPort } from '../../../operations/command.ts';
import { isEdge, type State, STATES, TABLE } from '../../../systems/cycle/machine/states.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { randomRuns } from '../../random-runs.ts';
import { started, useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';
import { answered, cyclingIn, digestOf, HANDLE, toApply } from './cycling.ts';

const opened = useStore();
let project: WrittenProject;
const { step, look, published } = cyclingIn(opened, () => project);

beforeAll(() => opened.store.events.append(HANDLE, [started(1)]));

/** The run is paused and resumed with its cycle. */
const runPort: RunPort = {
  ...commandContext('/').runPort,
  control: () => Promise.resolve({ status: 'running', reason: '', ending: false }),
};

const PATHS = ['a.txt', 'b.txt', 'c.txt'] as const;
const CHANGESETS: JsonObject[] = [
  [{ operation: 'MODIFY', path: 'a.txt', content: 'of the first\n' }],
  [
    { operation: 'MODIFY', path: 'a.txt', content: 'of the second\n' },
    { operation: 'DELETE', path: 'b.txt' },
    { operation: 'CREATE', path: 'c.txt', content: 'of the second\n' },
  ],
].map((operations) => ({ operations }));

const index = fc.nat(CHANGESETS.length - 1);
const choice = fc.constantFrom<Choice | null>('approve', 'approve', 'edit', 'reject', 'skip', 'abort', null);
const seldom = fc.integer({ min: 0, max: 7 }).map((n) => n === 0);
/** Mostly the first edge, which leads on. */
const nthEdge = fc.constantFrom<number[]>(0, 0, 0, 0, 1, 1, 2);
const event = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant('start' as const) }) },
  {
    weight: 12,
    arbitrary: fc.record({ type: fc.constant('edge' as const), nth: nthEdge, times: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('move' as const), to: fc.constantFrom(...STATES) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('approve' as const),
      which: index,
      choice,
      isOther: seldom,
      isEdited: seldom,
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('apply' as const), other: fc.option(index, { freq: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('lost' as const), at: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('edit' as const), path: fc.constantFrom(...PATHS) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('revert' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('recover' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('press' as const), id: fc.constantFrom('pause', 'resume') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reset' as const) }) },
);
type Happening = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

type Files = Record<string, string | null>;
const filesNow = (): Files =>
  Object.fromEntries(
    PATHS.map((path) => {
      const place = join(project.project, path);
      return [path, existsSync(place) ? readFileSync(place, 'utf8') : null];
    }),
  );

const after = (files: Files, { operations }: JsonObject): Files => {
  const changed = operations as { path: string; content?: string }[];
  return { ...files, ...Object.fromEntries(changed.map(({ path, content }) => [path, content ?? null])) };
};

/** What a person knows: what they answered to, and what they wrote themselves. */
class Person {
  /** The digests of changesets that were approved. */
  readonly approved = new Set<string>();
  /** What the last `changeset/approve` gave. */
  last: JsonObject = {};
  files = filesNow();
  /** Before the changeset that is written. */
  before = this.files;
  edits = 0;
  /** Of them, those before that changeset. */
  editsBefore = 0;

  edit(path: string): void {
    this.edits += 1;
    writeFileSync(join(project.project, path), `by a person ${this.edits}\n`);
    this.files = filesNow();
  }
}

let questions = 0;
/** How often files were written. */
let written = 0;

class Lost extends Error {}

/** Whether it was done; refusals are part of the sequence, and so is a lost worker. */
const done = (asked: Promise<JsonObject>): Promise<JsonObject | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof Failure || error instanceof Lost) return null;
    throw error;
  });

const stateNow = async (): Promise<State> => (await step('cycle/status', {}))['currentState'] as State;

async function approve(
  person: Person,
  { which: at, choice: said, isOther, isEdited }: Happening & { type: 'approve' },
) {
  const changeset = CHANGESETS[at] ?? {};
  const shown = (await done(look(changeset) as Promise<JsonObject>)) ?? {};
  if (isEdited) person.edit('a.txt');
  const from = await stateNow();
  questions += 1;
  const over = { ...answered(said, { isOther, pass: questions }), resolved: shown };
  const approval = await done(step('changeset/approve', changeset, over));
  if (approval === null) return;
  expect({ said: said === 'approve' || said === 'edit', isOther, isEdited, from }).toEqual({
    said: true,
    isOther: false,
    isEdited: false,
    from: 'AWAITING_PROPOSAL_APPROVAL',
  });
  expect(approval['digest']).toBe(shown['digest']);
  person.approved.add(digestOf(shown));
  person.last = approval;
}

/** `lostAt`: the act before which its worker is lost. */
async function apply(person: Person, given: JsonObject, lostAt = 0): Promise<void> {
  const { files } = person;
  let acts = 0;
  const checkAttempt = (): void => {
    acts += 1;
    if (acts === lostAt) throw new Lost('the worker is lost');
  };
  const applied = await done(step('changeset/apply', given, lostAt === 0 ? {} : { checkAttempt }));
  if (applied === null) {
    // Whoever comes next ends what was begun.
    await step('changeset/recover', {});
    if (isSame(filesNow(), files)) return;
  }
  expect(person.approved).toContain(given['digest']);
  expect(await stateNow()).toBe('APPLYING_CHANGESET');
  expect(filesNow()).toEqual(after(files, given));
  if (!isSame(filesNow(), files)) {
    person.before = files;
    person.editsBefore = person.edits;
    written += 1;
  }
  person.files = filesNow();
}

const isSame = (one: Files, other: Files): boolean => PATHS.every((path) => one[path] === other[path]);

/** What is taken back is taken back as a whole, but for what a person has written since. */
function expectWhole(person: Person, now: Files): void {
  if (person.edits === person.editsBefore) expect([person.files, person.before]).toContainEqual(now);
  else for (const path of PATHS) expect([person.files[path], person.before[path]], path).toContain(now[path]);
}

async function happen(person: Person, happening: Happening): Promise<void> {
  switch (happening.type) {
    case 'start':
      return void (await done(step('cycle/start', { goal: 'a goal' })));
    case 'edge': {
      for (let left = happening.times; left > 0; left -= 1) {
        const edges = TABLE[await stateNow()];
        await done(step('cycle/transition', { to: edges[happening.nth % edges.length] ?? 'IDLE' }));
      }
      return undefined;
    }
    case 'move':
      return void (await done(step('cycle/transition', { to: happening.to })));
    case 'approve':
      return approve(person, happening);
    case 'apply':
      return apply(
        person,
        toApply(happening.other === null ? person.last : { ...person.last, ...CHANGESETS[happening.other] }),
      );
    case 'lost':
      return apply(person, toApply(person.last), happening.at);
    case 'edit':
      return person.edit(happening.path);
    case 'revert':
    case 'recover': {
      const params = happening.type === 'revert' ? { digest: person.last['digest'] ?? '' } : {};
      await done(step(`changeset/${happening.type}`, params));
      const now = filesNow();
      expectWhole(person, now);
      person.files = now;
      return undefined;
    }
    case 'press':
      return void (await step('cycle/press', { id: happening.id }, { runPort }));
    case 'reset':
      return void (await step('cycle/reset', {}));
    default:
      return happening satisfies never;
  }
}

const edge = (nth = 0, times = 1): Happening => ({ type: 'edge', nth, times });
const start: Happening = { type: 'start' };
const home = [edge(1), edge()];
const approved = (which: number): Happening => ({
  type: 'approve',
  which,
  choice: 'approve',
  isOther: false,
  isEdited: false,
});
const applied: Happening = { type: 'apply', other: null };

/** Together they take all 18 edges. */
const EXAMPLES: Happening[][] = [
  [start, edge(0), edge(1), edge(0, 4), edge(1), edge(0, 2), approved(0), applied, edge(0), edge(1), ...home],
  [start, edge(0), edge(2), start, edge(0, 2), ...home, start, edge(0, 3), ...home, start, edge(0, 4), edge(2)],
  [start, edge(0, 4), approved(1), { type: 'lost', at: 5 }, applied, ...home],
  [start, edge(0, 4), approved(0), applied, edge(0, 2)],
];

interface Row {
  from_state: State;
  to_state: State;
}

const rowsOf = (table: string, columns: string): Promise<Row[]> =>
  opened.database.query<Row>(`select ${columns} from ${table} where repository = $1 order by id`, [project.project]);

const taken = new Set<string>();

test('no act without an answer to it, and no edge but those of the table', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 30, maxLength: 60, size: 'max' }), async (happenings) => {
      project = await writtenProject({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
      const told = (await published()).length;
      const person = new Person();
      for (const happening of happenings) {
        await happen(person, happening);
        expect(filesNow(), happening.type).toEqual(person.files);
      }
      const history = await rowsOf('cycle_transitions', 'from_state, to_state');
      for (const [at, { from_state: from, to_state: to }] of history.entries()) {
        expect(isEdge(from, to), `${from} -> ${to}`).toBe(true);
        expect(from).toBe(history[at - 1]?.to_state ?? 'IDLE');
        taken.add(`${from} -> ${to}`);
      }
      expect((await published()).slice(told)).toEqual(
        history.map(({ from_state: from, to_state: to }) => ({ from, to })),
      );
      expect(await stateNow()).toBe(history.at(-1)?.to_state ?? 'IDLE');
    }),
    // A shorter case takes minutes to find: each event is a transaction and a look at the files.
    { ...randomRuns(150, 8), endOnFailure: true, examples: EXAMPLES.map((example) => [example]) },
  );
  const edges = STATES.flatMap((from) => TABLE[from].map((to) => `${from} -> ${to}`));
  expect([...taken].toSorted()).toEqual(edges.toSorted());
  expect(written).toBeGreaterThan(0);
});
