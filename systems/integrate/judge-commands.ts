/** `integrate/look`, `integrate/restore`, `integrate/judge`, `integrate/record`: what came of a task, and its evidence. */
import * as z from 'zod';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { writeWhole } from '../../operations/files/whole-file.ts';
import { Failure } from '../../world/failures/failures.ts';
import { Begun } from './begin.ts';
import { interfaceChanges } from './interfaces.ts';
import { addedLines, placeholdersIn } from './judging/added-lines.ts';
import { isTestFile } from './judging/test-files.ts';
import { judge } from './judging/verdict.ts';
import { linesOfAgent, sidesOf, specialCasesIn, testsChanged, untracked } from './look.ts';
import { ChangedFile, Interfaces, Manifest, skippedTier, Tier, Violation } from './judging/manifest.ts';
import { orNotJudged, placeIn } from './place.ts';
import { Settings } from './settings.ts';
import { UNJUDGED, UNRESTORED } from './stated-failures.ts';
import { summaryOf } from './summary.ts';
import { evidenceOf, TaskId } from './task-id.ts';
import { TestedResult } from './test-command.ts';
import { changesBetween, countedFiles, isEvidence, movedBetween, patchBetween, restore } from './tree-changes.ts';

const Looked = z.strictObject({
  tree: z.string(),
  files: z.array(ChangedFile),
  testViolations: z.array(Violation),
  placeholders: z.array(Violation),
  interfaces: Interfaces,
  /** Files of the tests that have to be as they were before the tests say anything. */
  restores: z.array(z.string()),
  /** Its beginning, for whoever is asked. */
  patch: z.string(),
  warnings: z.array(z.string()),
});
type Looked = z.infer<typeof Looked>;

const SHOWN_MAX = 16_000;

async function look({ begun }: { begun: Begun }, context: Context): Promise<Looked> {
  const { placeholder } = Settings.parse(context.settings);
  const { trees } = await placeIn(context);
  const { git } = trees;
  const { tree } = await orNotJudged(() => trees.take());
  const pair = { before: begun.tree, after: tree };
  const all = await orNotJudged(() => changesBetween(git, pair));
  const changes = all.filter(({ path }) => !isEvidence(path));
  const sides = await sidesOf(git, changes);
  const paths = changes.map(({ path }) => path);
  const patch = await orNotJudged(() => patchBetween(git, pair, paths));
  const added = linesOfAgent(patch);
  const moved = await orNotJudged(() => movedBetween(git, pair));
  const testViolations = [...testsChanged(all, sides), ...(await specialCasesIn(git, begun.tree, added))];
  const wrong = new Set(testViolations.filter(({ pattern }) => pattern !== 'SPECIAL_CASED').map(({ file }) => file));
  return {
    tree,
    files: await countedFiles(git, pair, changes),
    testViolations,
    placeholders: placeholdersIn(await newLines(begun, { git, pair }, context), placeholder),
    interfaces: await interfaceChanges(sides, context),
    restores: [...wrong].filter((path) => !path.endsWith('.rs') || isTestFile(path)),
    patch: patch.toString('utf8').slice(0, SHOWN_MAX),
    warnings: moved.length > 0 ? ['something moved in the repository while the task was integrated'] : [],
  };
}

/** Of the task and of the models together. */
async function newLines(
  { base }: Begun,
  { git, pair }: { git: Parameters<typeof untracked>[0]; pair: Parameters<typeof untracked>[1] },
  context: Context,
) {
  if (base === null) {
    const everything = await git.text(['ls-tree', '-r', '-z', '--name-only', pair.after]);
    const paths = everything.split('\0').filter((path) => path !== '' && !isEvidence(path));
    return untracked(git, pair, paths.slice(0, 5_000));
  }
  const said = (await context.call('code/git', { operation: 'diff', base })) as { diff: string };
  const status = (await context.call('code/git', { operation: 'status' })) as {
    files: { path: string; index: string }[];
  };
  const others = status.files.filter(({ index, path }) => index === '?' && !isEvidence(path)).map(({ path }) => path);
  const known = addedLines(said.diff).filter(({ file }) => !isEvidence(file));
  return [...known, ...(await untracked(git, pair, others))];
}

const RestoreParams = z.strictObject({
  from: z.string(),
  to: z.string(),
  paths: z.array(z.string()).optional().describe('these alone'),
});

async function takeBack({ from, to, paths }: z.infer<typeof RestoreParams>, context: Context) {
  const { root, trees } = await placeIn(context);
  const pair = { before: to, after: from };
  const changes = await orNotJudged(() => changesBetween(trees.git, pair));
  const wanted = changes.filter(({ path }) => paths === undefined || paths.includes(path));
  const check = (): void => {
    context.signal.throwIfAborted();
    context.checkAttempt?.();
  };
  return trees.alone(() => restore({ git: trees.git, root, check }, wanted));
}

const JudgeParams = z.strictObject({
  begun: Begun,
  before: TestedResult,
  after: TestedResult,
  looked: Looked,
  tier1: Tier,
  tier2: Tier,
  said: z.string(),
  permitted: z.boolean().nullable(),
});

const Judged = z.strictObject({
  manifest: Manifest,
  asks: z.boolean(),
  takesBack: z.boolean(),
  /** For whoever is asked. */
  message: z.string(),
});

function judged(params: z.infer<typeof JudgeParams>, context: Context): z.infer<typeof Judged> {
  const { changeRadius, placeholder } = Settings.parse(context.settings);
  const { begun, before, after, looked, tier1, tier2, said, permitted } = params;
  const lines = looked.files.reduce((sum, { lines_added: added, lines_removed: removed }) => sum + added + removed, 0);
  const verdict = judge({
    mode: begun.mode,
    tests: begun.framework === null ? null : { before, after },
    hasChanges: looked.files.length > 0 || looked.testViolations.length > 0,
    testViolations: looked.testViolations,
    placeholders: looked.placeholders,
    failsOnPlaceholders: placeholder.failOnDetect,
    isOverRadius: looked.files.length > changeRadius.maxFiles || lines > changeRadius.maxLines,
    breaking: looked.interfaces.breaking,
    allowsBreaking: changeRadius.allowInterfaceChanges,
    permitted,
  });
  const { compared } = verdict;
  const hasChanges = looked.files.length > 0;
  const isKeptBreak = looked.interfaces.breaking.length > 0 && !verdict.takesBack;
  const { not_judged: unjudged } = looked.interfaces;
  const manifest: Manifest = {
    task_id: begun.task,
    sentinel_id: `SENTINEL-${begun.task}`,
    result: verdict.result,
    reasons: verdict.reasons,
    error: verdict.error,
    timestamp: new Date(context.now()).toISOString(),
    agent: tier1.attempted || tier2.attempted ? 'sentinel' : null,
    tier_used: tier2.attempted ? 2 : tier1.attempted ? 1 : 0,
    tiers: { tier1, tier2 },
    placeholder_violations: looked.placeholders,
    test_violations: looked.testViolations,
    files_changed: looked.files,
    changes: !hasChanges ? 'none' : verdict.takesBack ? 'taken_back' : 'kept',
    interface_changes: looked.interfaces,
    tests_run: begun.framework?.command ?? null,
    tests_fixed: compared.fixed,
    tests_still_failing: compared.stillFailing,
    tests_lost: compared.lost,
    tests_flaky: compared.flaky,
    fix_reason: fixReason(said, looked, { before, isPass: verdict.result === 'PASS' }),
    cascade_triggered: false,
    radius: { files_changed: looked.files.length, lines_changed: lines, budget_exceeded: verdict.isExceeded },
    warnings: [
      ...begun.warnings,
      ...looked.warnings,
      ...(begun.framework !== null && before.ran && before.cases.length === 0 && before.failing.length === 0
        ? [`"${begun.framework.command}" ran no test that it names: its exit code alone was judged`]
        : []),
      ...(unjudged.length > 0 ? [`only names were compared, or nothing: ${unjudged.slice(0, 5).join(', ')}`] : []),
      ...(isKeptBreak ? ['callers may break, and no task that depends on this one was integrated again'] : []),
    ],
  };
  return {
    manifest,
    asks: verdict.asks,
    takesBack: verdict.takesBack,
    message: `${begun.task} goes further than it may: ${verdict.reasons.join('; ')}. Keep the changes?`,
  };
}

function fixReason(said: string, { files }: Looked, { before, isPass }: { before: TestedResult; isPass: boolean }) {
  if (files.length === 0) return before.failing.length === 0 ? 'nothing had to be fixed' : 'nothing was changed';
  const last = said.trim().split(/\n+/).at(-1)?.trim() ?? '';
  if (last !== '') return last.slice(0, 1_000);
  const lines = files.reduce((sum, file) => sum + file.lines_added + file.lines_removed, 0);
  const where = files
    .map(({ path }) => path)
    .slice(0, 5)
    .join(', ');
  return `${isPass ? 'tests pass' : 'tests fail'} after ${lines} changed lines in ${where}`;
}

const RecordParams = z.strictObject({
  task: TaskId,
  manifest: Manifest.nullable().default(null),
  /** The two states between which the patch lies. */
  before: z.string().nullable().default(null),
  after: z.string().nullable().default(null),
  error: z.string().default(''),
});

const Recorded = z.strictObject({ result: Manifest.shape.result, folder: z.string(), text: z.string() });

async function record(
  { task, manifest: given, before, after, error }: z.infer<typeof RecordParams>,
  context: Context,
): Promise<z.infer<typeof Recorded>> {
  const manifest = given ?? unjudgedManifest(task, error, context.now());
  const folder = evidenceOf(task);
  const patch = before === null || after === null ? Buffer.alloc(0) : await patchOf({ before, after }, context);
  const files: readonly (readonly [name: string, content: Buffer])[] = [
    ['diff.patch', patch],
    ['summary.md', Buffer.from(summaryOf(manifest))],
    ['manifest.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)],
  ];
  for (const [name, content] of files) {
    context.checkAttempt?.();
    await writeWhole(`${folder}/${name}`, content, context);
  }
  const why = manifest.error ?? manifest.reasons.join('; ');
  const text = `${task}: ${manifest.result}${why === '' ? '' : ` (${why})`}. See ${folder}/summary.md`;
  return { result: manifest.result, folder, text };
}

async function patchOf(pair: { before: string; after: string }, context: Context): Promise<Buffer> {
  const { trees } = await placeIn(context);
  const changes = await orNotJudged(() => changesBetween(trees.git, pair));
  const paths = changes.map(({ path }) => path).filter((path) => !isEvidence(path));
  return orNotJudged(() => patchBetween(trees.git, pair, paths));
}

/** Of a task of which nothing is known. */
function unjudgedManifest(task: string, error: string, now: number): Manifest {
  return {
    task_id: task,
    sentinel_id: `SENTINEL-${task}`,
    result: 'ERROR',
    reasons: [],
    error: error === '' ? 'the run ended before it had judged anything' : error,
    timestamp: new Date(now).toISOString(),
    agent: null,
    tier_used: 0,
    tiers: { tier1: skippedTier('error'), tier2: skippedTier('error') },
    placeholder_violations: [],
    test_violations: [],
    files_changed: [],
    changes: 'none',
    interface_changes: { breaking: [], non_breaking: [], not_judged: [] },
    tests_run: null,
    tests_fixed: [],
    tests_still_failing: [],
    tests_lost: [],
    tests_flaky: [],
    fix_reason: '',
    cascade_triggered: false,
    radius: { files_changed: 0, lines_changed: 0, budget_exceeded: false },
    warnings: ['what models had changed by then is still there: "sentinel undo" of the run takes it back'],
  };
}

const TallyParams = z.strictObject({
  tier: Tier,
  usage: z
    .object({ usd: z.number().default(0) })
    .nullable()
    .default(null),
  /** Of the tests after this pass. */
  failing: z.array(z.string()),
  startedAt: z.number(),
  maxBudgetUsd: z.number(),
  /** Why the model gave no answer. */
  error: z.string().default(''),
});

const Tallied = z.strictObject({ tier: Tier, isOver: z.boolean() });

function tally(
  { tier, usage, failing, startedAt, maxBudgetUsd, error }: z.infer<typeof TallyParams>,
  now: number,
): z.infer<typeof Tallied> {
  const cost = tier.cost_usd + (usage?.usd ?? 0);
  const isSpent = cost >= maxBudgetUsd;
  const status =
    failing.length === 0 ? 'passed' : error !== '' ? `failed: ${error}` : isSpent ? 'budget spent' : 'failed';
  return {
    tier: {
      attempted: true,
      reason: null,
      iterations: tier.iterations + 1,
      cost_usd: cost,
      duration_sec: Math.round((now - startedAt) / 100) / 10,
      final_status: status,
    },
    isOver: failing.length === 0 || error !== '' || isSpent,
  };
}

const stale = (path: string): Failure =>
  new Failure('INTEGRATION_NOT_RESTORED', `"${path}" was changed by somebody else meanwhile, and is left as it is`);

export const judgeCommands: Command[] = [
  defineCommand({
    name: 'integrate/look',
    description: 'Says what was changed since the snapshot of a task, and what of it is not as it may be.',
    permission: 'shell',
    speed: 'long',
    doors: ['step'],
    failures: UNJUDGED,
    params: z.strictObject({ begun: Begun }),
    result: Looked,
    run: (params, context) => look(params, context),
  }),
  defineCommand({
    name: 'integrate/restore',
    description: 'Puts files back as they were in the snapshot of a task, where nobody else has changed them since.',
    permission: 'delete',
    speed: 'long',
    doors: ['step'],
    failures: { ...UNRESTORED, ...UNJUDGED },
    params: RestoreParams,
    result: z.strictObject({ done: z.array(z.string()) }),
    async run(params, context) {
      const { done, left } = await takeBack(params, context);
      if (left[0] !== undefined) throw stale(left[0]);
      return { done };
    },
  }),
  defineCommand({
    name: 'integrate/tally',
    description: 'Adds one pass of a tier to what the tier has done.',
    permission: 'read',
    speed: 'quick',
    doors: ['step'],
    params: TallyParams,
    result: Tallied,
    run: (params, context) => Promise.resolve(tally(params, context.now())),
  }),
  defineCommand({
    name: 'integrate/judge',
    description: 'Judges a task by what was measured before and after.',
    permission: 'read',
    speed: 'quick',
    doors: ['step'],
    params: JudgeParams,
    result: Judged,
    run: (params, context) => Promise.resolve(judged(params, context)),
  }),
  defineCommand({
    name: 'integrate/record',
    description: 'Writes manifest.json, diff.patch and summary.md of a task.',
    permission: 'write',
    speed: 'long',
    doors: ['step'],
    textField: 'text',
    failures: UNJUDGED,
    params: RecordParams,
    result: Recorded,
    run: record,
  }),
];
