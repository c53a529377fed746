/** `code/verify`: the checks that a project has, run as a shell step runs its line, and what they found, place by place. */
import { statSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import * as z from 'zod';
import { canonicalText } from '../../language/canonical.ts';
import { defined } from '../../language/defined.ts';
import type { JsonObject } from '../../language/json.ts';
import { shellTimeoutMs } from '../../language/limits.ts';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { CHECK_NAMES, type Check, type CheckName } from './verify/check.ts';
import { findChecks, LOOKED_FOR, type Looked } from './verify/find-checks.ts';
import { runChecks, shownCheck, type Verified } from './verify/run-checks.ts';
import { refuseChanged } from '../../operations/approved-action.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';

const Name = z.enum(CHECK_NAMES);
const Path = z.string().regex(/^[^-]/, 'must not be empty or begin with "-"');

const Params = z.strictObject({
  fullTest: z.boolean().optional().describe('true: goes on after a check that failed'),
  path: Path.optional().describe('a folder of the project that has checks of its own, or a test file'),
  testFile: Path.optional().describe('only the tests of this file'),
  checks: z.array(Name).min(1).optional().describe('only these'),
  timeoutMs: z.number().int().positive().optional(),
  cases: z.boolean().optional().describe('true: lists every test, and how it ended'),
});
type Params = z.infer<typeof Params>;

const Result: z.ZodType<Verified> = z.strictObject({
  success: z.boolean(),
  checks: z.array(
    z.strictObject({
      name: Name,
      command: z.string(),
      exitCode: z.number(),
      success: z.boolean(),
      durationMs: z.number(),
    }),
  ),
  failures: z.array(
    z.strictObject({
      check: Name,
      file: z.string().exactOptional(),
      line: z.number().exactOptional(),
      column: z.number().exactOptional(),
      message: z.string(),
      test: z.string().exactOptional(),
    }),
  ),
  skipped: z.array(Name),
  output: z.string(),
  truncated: z.boolean().exactOptional(),
  cases: z
    .array(
      z.strictObject({
        check: Name,
        test: z.string(),
        status: z.enum(['passed', 'failed', 'skipped']),
        file: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
});

async function verify(params: Params, context: CommandContext): Promise<Verified> {
  const looked = whereToLook(params, context);
  const checks = checksOf(params, looked);
  const timeoutMs = Math.min(params.timeoutMs ?? context.timeoutMs, context.timeoutMs);
  const { root, folder } = looked;
  const plan = {
    checks,
    root,
    folder,
    runsAll: params.fullTest === true,
    listsCases: params.cases === true,
    timeoutMs,
  };
  if (context.resolved === undefined) return runChecks(plan, context);
  await refuseChanged(context, () => shownChecks(checks, folder), changed(folder));
  return runChecks({ ...plan, before: (check) => refuseChangedCheck(check, looked) }, context);
}

/** What stands in the project may have changed while the checks before it ran. */
function refuseChangedCheck(check: Check, looked: Looked): void {
  const now = findChecks(looked).find(({ name }) => name === check.name);
  const said = (one: Check): string => canonicalText(shownCheck(one, looked.folder));
  if (now === undefined || said(now) !== said(check)) throw changed(looked.folder, check.name);
}

const shownChecks = (checks: readonly Check[], folder: string): JsonObject => ({
  checks: checks.map((check) => shownCheck(check, folder)),
});

function changed(folder: string, name?: CheckName): Failure {
  const place = folder === '' ? 'the project' : `"${folder}"`;
  const what = name === undefined ? 'the checks' : `"${name}"`;
  return new Failure(
    'ACTION_CHANGED',
    `${what} of ${place} changed after a person approved what was shown, and did not run; see what changed, and run the step again`,
  );
}

function checksOf(params: Params, looked: Looked): Check[] {
  const found = findChecks(looked);
  const checks = params.checks === undefined ? found : found.filter(({ name }) => params.checks?.includes(name));
  if (checks.length === 0)
    throw noChecks(
      params,
      found.map(({ name }) => name),
      looked,
    );
  return checks;
}

/** A test file is looked up from the project, or from the folder that is named beside it. */
function whereToLook({ path = '.', testFile, checks }: Params, context: CommandContext): Looked {
  const asked = defined({ asked: checks });
  const inside = (place: string): string => resolveInside(rootOf(context), place, accessOf(context));
  const root = inside('.');
  const named = inside(path);
  const found = statSync(named, { throwIfNoEntry: false });
  if (found === undefined) throw missing(path);
  const file = testFile ?? (found.isFile() ? path : undefined);
  const base = found.isFile() ? root : named;
  if (file === undefined) return { root, folder: way(root, base), ...asked };
  const place = [inside(file), inside(`${way(root, base) || '.'}/${file}`)].find(
    (one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true,
  );
  if (place === undefined) throw missing(file);
  const from = relative(base, place).startsWith('..') ? dirname(place) : base;
  return { root, folder: way(root, from), testFile: way(from, place), ...asked };
}

const way = (from: string, to: string): string => relative(from, to).split(sep).join('/');

const missing = (path: string): Failure =>
  new Failure('FILE_NOT_FOUND', `"${path}" does not exist in the project; name a folder or a test file that does`);

function noChecks({ checks, testFile }: Params, found: readonly CheckName[], { folder }: Looked): Failure {
  const place = folder === '' ? 'the project' : `"${folder}"`;
  const wanted = checks === undefined ? '' : ` of ${checks.join(', ')}`;
  const file = testFile === undefined ? '' : ` for "${testFile}"`;
  const finding = found.length === 0 ? `looked for were ${LOOKED_FOR}` : `there are ${found.join(', ')}`;
  return new Failure(
    'NO_CHECKS_FOUND',
    `there are no checks${wanted}${file} in ${place}: ${finding}; name the folder that has them as "path", or use a shell step`,
  );
}

export const verifyCommands: Command[] = [
  defineCommand({
    name: 'code/verify',
    description:
      'Runs the checks that the project has (types and tests) and lists what failed, with file, line and message.',
    permission: 'shell',
    speed: 'long',
    secrets: 'values',
    timeoutMs: shellTimeoutMs,
    textField: 'output',
    failures: {
      NO_CHECKS_FOUND: { title: 'A project has no checks that can be run', retryable: false },
    },
    params: Params,
    result: Result,
    run: verify,
    // As a command line, they are taken to succeed.
    predict: () => ({
      text: 'runs the checks of the project',
      source: 'assumed',
      result: { success: true, checks: [], failures: [], skipped: [], output: '' },
    }),
    keepsProcess: () => true,
    resolves: true,
    resolve(params, context) {
      const looked = whereToLook(params, context);
      return shownChecks(checksOf(params, looked), looked.folder);
    },
  }),
];
