/** `changeset/…`: changes to files are read, checked, approved by a person, written, committed and taken back as a whole. */
import * as z from 'zod';
import { isJsonObject, type Json } from '../../language/json.ts';
import { refuseChanged, shownOf } from '../../operations/approved-action.ts';
import { type Command, type Context, type CommandContext, defineCommand } from '../../operations/command.ts';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { applyFiles, revert, type Settled, settle, type Target } from './changesets/apply.ts';
import { Changeset, CHANGESET_BOUNDS, digestOf, digestsOf, KINDS, type PlannedFile } from './changesets/changeset.ts';
import { checkChangeset, digestAfter, type Place, type Problem } from './changesets/check.ts';
import { commitFiles } from './changesets/commit.ts';
import { changeWords, diffOf } from './changesets/diff.ts';
import { readRecord, removeRecord } from './changesets/record.ts';
import { catsOf, dogsOf, parseCats, parseDogs } from './changesets/text-forms.ts';
import { type Approval, canApply, transition } from './machine/machine.ts';
import { CHANGESET_FAILURES } from './stated-failures.ts';
import { keep, ownCycle, repositoryIn } from './store.ts';

const MINUTE = 60_000;

const Digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be the digest that changeset/check gives');
const FileDigest = z.strictObject({
  operation: z.enum(KINDS),
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
});

/** The folder of the step, its states, and what may be written there. */
async function placeIn(context: CommandContext): Promise<Place & { trees: string }> {
  const { checkpoints } = context;
  if (checkpoints === undefined)
    throw new Failure(
      'CHANGESET_REFUSED',
      'this worker takes no checkpoints, so nothing could be taken back; start it without SENTINEL_CHECKPOINTS=false',
    );
  const root = resolveInside(rootOf(context), '.');
  const { git } = await checkpoints.treesOf(root);
  return { root, access: accessOf(context, { writes: true }), git, trees: git.place };
}

const targetIn = (context: CommandContext, { root, trees }: { root: string; trees: string }): Target => ({
  root,
  place: trees,
  check: () => {
    context.signal.throwIfAborted();
    context.checkAttempt?.();
  },
});

async function planned(changeset: Changeset, context: CommandContext): Promise<PlannedFile[]> {
  const { problems, files } = await checkChangeset(changeset, await placeIn(context));
  if (problems.length > 0) throw refused(problems);
  return files;
}

function refused(problems: readonly Problem[]): Failure {
  const words = problems.slice(0, 10).map(({ path, why }) => `${path === '' ? '' : `"${path}" `}${why}`);
  const more = problems.length > words.length ? `; and ${problems.length - words.length} more` : '';
  return new Failure('CHANGESET_REFUSED', `the changeset cannot be done: ${words.join('; ')}${more}`, {
    details: { problems: problems.map((problem) => ({ ...problem })) },
  });
}

const Approved = z.strictObject({
  digest: Digest,
  files: z.array(FileDigest),
  operations: Changeset.shape.operations,
}) as unknown as z.ZodType<Json>;

/** What a person is shown beside the operations, and what their answer holds for. */
async function shownFiles(changeset: Changeset, context: CommandContext): Promise<Json> {
  const files = await planned(changeset, context);
  const lines = digestsOf(files).map(
    ({ operation, path, before, after }) => `${operation} ${path}: ${before ?? 'nothing'} -> ${after ?? 'nothing'}`,
  );
  return {
    summary: changeWords(files),
    diff: diffOf(files),
    digest: digestOf(files),
    files: shownOf(lines, CHANGESET_BOUNDS.operationsMax),
  };
}

const stale = new Failure(
  'CHANGESET_STALE',
  'a file of the changeset changed after it was shown, and nothing was approved; look at it, and propose again',
);

async function approve(changeset: Changeset, context: Context): Promise<Json> {
  const files = await planned(changeset, context);
  const digest = digestOf(files);
  await refuseChanged(context, () => shownFiles(changeset, context), stale);
  await refuseUnanswered(context);
  const { id, machine } = await ownCycle(context);
  const { cycleContext } = machine;
  if (!canApply(machine) || cycleContext === null)
    throw new Failure(
      'CHANGESET_NOT_APPROVED',
      `a changeset is approved in AWAITING_PROPOSAL_APPROVAL, and the cycle is in ${machine.currentState}`,
    );
  const approved = approvedOf(files, context);
  const about = { ...cycleContext, changeset: digest, checkpoint: context.key, approved };
  await keep(context, id, transition({ ...machine, cycleContext: about }, 'APPLYING_CHANGESET', context.now()));
  return { digest, files: digestsOf(files), operations: changeset.operations as unknown as Json };
}

/** As the person saw it; where nothing was shown, as it would have been, with secrets masked. */
function approvedOf(files: readonly PlannedFile[], { resolved, secrets }: Context): Approval {
  if (resolved !== undefined && isJsonObject(resolved)) {
    const { summary, diff } = resolved;
    if (typeof summary === 'string' && typeof diff === 'string') return { change: summary, diff };
  }
  const approval = { change: changeWords(files), diff: diffOf(files) };
  return secrets === undefined ? approval : secrets.results.json<typeof approval>(approval);
}

/** The run was asked about exactly this step, and let it happen: what a rule or a definition lets pass does not count. */
async function refuseUnanswered({ runPort, run, key }: Context): Promise<void> {
  const { answered } = await runPort.asks(run.handle);
  const answer = answered.findLast(({ id }) => id === key)?.answer;
  if (answer?.choice === 'approve' || answer?.choice === 'edit') return;
  throw new Failure(
    'CHANGESET_NOT_APPROVED',
    'nobody was asked about the changeset; the definition has to require approval for "delete"',
  );
}

const Applied = z.strictObject({
  digest: Digest,
  files: z.array(FileDigest),
  /** What an interrupted attempt had left, and what became of it. */
  settled: z.enum(['none', 'back', 'forward']),
});

async function apply({ digest, operations }: z.infer<typeof ApplyParams>, context: Context) {
  const leave = await leaseIn(context);
  const place = await placeIn(context);
  const target = targetIn(context, place);
  const settled = settle(target);
  await refuseUnapproved(digest, context);
  const record = readRecord(place.trees);
  if (record?.digest === digest && settled.how === 'forward') {
    if (digestAfter(operations, record.files) !== digest) throw otherOperations(digest);
    return { digest, files: digestsOf(record.files), settled: settled.how };
  }
  // What another changeset has written stays: it was approved, too.
  if (record !== null) removeRecord(place.trees);
  if (settled.left.length > 0) throw leftAs(settled);
  const { problems, files } = await checkChangeset({ operations }, place);
  if (problems.length > 0 || digestOf(files) !== digest)
    throw new Failure(
      'CHANGESET_STALE',
      `the project is not as it was when the changeset was approved, and nothing was changed${problems.length === 0 ? '' : ` (${refused(problems).message})`}; propose again`,
    );
  applyFiles(target, files, context.run.handle);
  await leave();
  return { digest, files: digestsOf(files), settled: settled.how };
}

const otherOperations = (digest: string): Failure =>
  new Failure(
    'CHANGESET_NOT_APPROVED',
    `the operations are not those of the changeset ${digest.slice(0, 12)}, which is written already; apply what "changeset/approve" gave`,
  );

const leftAs = ({ left }: Settled): Failure =>
  new Failure(
    'CHANGESET_STALE',
    `an interrupted changeset was taken back, but somebody had changed ${left.join(', ')} meanwhile, which stays as it is; look at it, and propose again`,
    { details: { left } },
  );

/** One changeset at a time is written in a repository. */
const leaseIn = (context: Context) =>
  context.lease(`changeset ${repositoryIn(context)}`.slice(-200), { capacity: 1, scope: 'installation' });

async function refuseUnapproved(digest: string, context: Context): Promise<void> {
  const { machine } = await ownCycle(context);
  if (machine.currentState === 'APPLYING_CHANGESET' && machine.cycleContext?.changeset === digest) return;
  throw new Failure(
    'CHANGESET_NOT_APPROVED',
    `the changeset ${digest.slice(0, 12)} is not the one that was approved; "changeset/approve" asks about it`,
  );
}

const ApplyParams = z.strictObject({
  digest: Digest,
  operations: Changeset.shape.operations,
});

async function takeBack(digest: string, context: Context) {
  const leave = await leaseIn(context);
  const place = await placeIn(context);
  const left = revert(targetIn(context, place), digest);
  await leave();
  return { reverted: left !== null, left: left ?? [] };
}

async function recover(context: Context) {
  const leave = await leaseIn(context);
  const settled = settle(targetIn(context, await placeIn(context)));
  await leave();
  return { ...settled };
}

async function commit({ digest, message }: { digest: string; message: string }, context: Context) {
  const place = await placeIn(context);
  const record = readRecord(place.trees);
  const done = await commitFiles({ root: place.root, record, digest, message }, context);
  if (record?.digest === digest) removeRecord(place.trees);
  return done;
}

const FILES_MAX = 200;

async function bundle({ files, reason }: { files: string[]; reason: string }, context: Context) {
  const bundled = [];
  let bytes = 0;
  for (const path of new Set(files)) {
    const read = (await context.call('code/read', { path, encoding: 'base64' })) as { content: string; bytes: number };
    bytes += read.bytes;
    if (bytes > CHANGESET_BOUNDS.bytesMax)
      throw new Failure(
        'VALUE_TOO_LARGE',
        `the files have more than ${CHANGESET_BOUNDS.bytesMax} bytes together; name fewer`,
      );
    const content = Buffer.from(read.content, 'base64');
    const text = content.toString('utf8');
    const isText = !text.includes('\0') && Buffer.from(text, 'utf8').equals(content);
    bundled.push(isText ? { path, content: text } : { path, content: read.content, encoding: 'base64' as const });
  }
  return { reason, files: bundled, text: catsOf({ reason, files: bundled }) } as Json;
}

const Bundled = z.strictObject({ path: z.string(), content: z.string(), encoding: z.literal('base64').optional() });

function parse(text: string): Json {
  const isBundle = /^```vfs-file/m.test(text) && !/^```paws-change/m.test(text);
  const { value, problems } = isBundle ? parseCats(text) : parseDogs(text);
  if (problems.length === 0) return { form: isBundle ? 'cats' : 'dogs', ...value } as unknown as Json;
  const words = problems.slice(0, 10).map(({ why }) => why);
  throw new Failure('CHANGESET_INVALID', `the text is no ${isBundle ? 'bundle' : 'changeset'}: ${words.join('; ')}`, {
    details: { problems: problems.map((problem) => ({ ...problem })) },
  });
}

const looking: Command[] = [
  defineCommand({
    name: 'changeset/parse',
    description: 'Reads a changeset (dogs.md) or a bundle of files (cats.md) from its text form.',
    permission: 'read',
    speed: 'quick',
    failures: CHANGESET_FAILURES,
    params: z.strictObject({ text: z.string().min(1) }),
    result: z.union([
      Changeset.extend({ form: z.literal('dogs') }),
      z.strictObject({ form: z.literal('cats'), reason: z.string(), files: z.array(Bundled) }),
    ]) as unknown as z.ZodType<Json>,
    run: ({ text }) => Promise.resolve(parse(text)),
  }),
  defineCommand({
    name: 'changeset/bundle',
    description: 'Gathers files of the project, with their text form (cats.md).',
    permission: 'read',
    speed: 'quick',
    failures: CHANGESET_FAILURES,
    textField: 'text',
    params: z.strictObject({
      files: z.array(z.string().min(1)).min(1).max(FILES_MAX),
      reason: z.string().trim().min(1).max(2_000).default('Context bundle'),
    }),
    result: z.strictObject({
      reason: z.string(),
      files: z.array(Bundled),
      text: z.string(),
    }) as unknown as z.ZodType<Json>,
    run: bundle,
  }),
  defineCommand({
    name: 'changeset/check',
    description:
      'Says whether a changeset can be done as a whole, with its digest, its diff and its text form (dogs.md).',
    permission: 'read',
    speed: 'long',
    failures: CHANGESET_FAILURES,
    textField: 'text',
    params: Changeset,
    result: z.strictObject({ digest: Digest, files: z.array(FileDigest), diff: z.string(), text: z.string() }),
    async run(changeset, context) {
      const files = await planned(changeset, context);
      return {
        digest: digestOf(files),
        files: digestsOf(files),
        diff: diffOf(files),
        text: dogsOf(changeset),
      };
    },
  }),
];

const writing: Command[] = [
  defineCommand({
    name: 'changeset/approve',
    description: 'Lets a person approve a changeset: these operations, on these files as they are.',
    // What is approved may remove files. Nothing is written yet.
    permission: 'delete',
    speed: 'long',
    failures: CHANGESET_FAILURES,
    doors: ['step'],
    writes: () => [],
    params: Changeset,
    result: Approved,
    run: approve,
    resolves: true,
    resolve: shownFiles,
  }),
  defineCommand({
    name: 'changeset/apply',
    description: 'Writes the approved changeset: all of its files, or none.',
    permission: 'write',
    speed: 'long',
    failures: CHANGESET_FAILURES,
    timeoutMs: 10 * MINUTE,
    doors: ['step'],
    params: ApplyParams,
    result: Applied,
    run: apply,
  }),
  defineCommand({
    name: 'changeset/revert',
    description: 'Puts all files back that an applied changeset has changed.',
    permission: 'write',
    speed: 'long',
    failures: CHANGESET_FAILURES,
    timeoutMs: 10 * MINUTE,
    doors: ['step'],
    params: z.strictObject({ digest: Digest }),
    result: z.strictObject({ reverted: z.boolean(), left: z.array(z.string()) }),
    run: ({ digest }, context) => takeBack(digest, context),
  }),
  defineCommand({
    name: 'changeset/recover',
    description: 'Ends what an interrupted changeset has left: all files as before, or all as approved.',
    permission: 'write',
    speed: 'long',
    failures: CHANGESET_FAILURES,
    timeoutMs: 10 * MINUTE,
    doors: ['step', 'person'],
    params: z.strictObject({}),
    result: z.strictObject({
      how: z.enum(['none', 'back', 'forward']),
      digest: z.string().nullable(),
      left: z.array(z.string()),
    }),
    run: (_params, context) => recover(context),
  }),
  defineCommand({
    name: 'changeset/commit',
    description: 'Commits the files of the applied changeset, and nothing else that is changed or staged.',
    permission: 'shell',
    speed: 'long',
    failures: CHANGESET_FAILURES,
    doors: ['step'],
    textParams: ['message'],
    params: z.strictObject({ digest: Digest, message: z.string().trim().min(1).max(10_000) }),
    result: z.strictObject({ committed: z.boolean(), commit: z.string().nullable(), why: z.string().nullable() }),
    run: commit,
  }),
];

export const changesetCommands: Command[] = [...looking, ...writing];
