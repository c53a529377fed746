/** Runs the checks of a project one after the other, each as a process of the step, and says what they found. */
import { join } from 'node:path';
import { Failure } from '../../../world/failures/failures.ts';
import type { JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import type { ShellContext } from '../../../operations/shell/request.ts';
import { SHELL_BOUNDS } from '../../../world/processes/bounds.ts';
import { runShell, type ShellResult } from '../../../operations/shell/run-shell.ts';
import type { Check, CheckName } from './check.ts';
import type { Finding, TestCase } from './parse/finding.ts';

export type CheckResult = {
  name: CheckName;
  command: string;
  exitCode: number;
  success: boolean;
  durationMs: number;
};

export type CheckFailure = Finding & { check: CheckName };

export type CheckCase = TestCase & { check: CheckName };

export type Verified = {
  success: boolean;
  checks: CheckResult[];
  failures: CheckFailure[];
  /** Checks that were not run, because one before them failed. */
  skipped: CheckName[];
  output: string;
  truncated?: boolean;
  /** Every test of the checks that name them, where it was asked for. */
  cases?: CheckCase[];
};

export interface Plan {
  checks: readonly Check[];
  root: string;
  folder: string;
  /** Goes on after a check that failed. */
  runsAll: boolean;
  listsCases: boolean;
  timeoutMs: number;
  /** Fails where a check is no longer the one that was approved. */
  before?: (check: Check) => void;
}

const failuresMax = 200;
const casesMax = 50_000;
const messageLengthMax = 4_000;
const outputLengthMax = 16_000;
/** What shells answer where there is no such program. */
const notFoundExit = 127;

export async function runChecks(plan: Plan, context: ShellContext): Promise<Verified> {
  const endsAt = context.now() + plan.timeoutMs;
  const results: CheckResult[] = [];
  const failures: CheckFailure[] = [];
  const cases: CheckCase[] = [];
  const outputs: string[] = [];
  for (const check of plan.checks) {
    if (!plan.runsAll && results.some(({ success }) => !success)) break;
    plan.before?.(check);
    const done = await runCheck(check, plan, { endsAt, context });
    results.push(done.result);
    failures.push(...done.failures);
    for (const one of done.cases) cases.push({ check: check.name, ...one });
    outputs.push(done.shown);
  }
  const share = Math.floor(outputLengthMax / Math.max(1, outputs.length));
  return {
    success: results.every(({ success }) => success),
    checks: results,
    failures: failures.slice(0, failuresMax),
    skipped: plan.checks.slice(results.length).map(({ name }) => name),
    output: outputs.map((text) => tailOf(text, share)).join('\n'),
    ...(failures.length > failuresMax || cases.length > casesMax ? { truncated: true } : {}),
    ...(plan.listsCases ? { cases: cases.slice(0, casesMax) } : {}),
  };
}

interface Done {
  result: CheckResult;
  failures: CheckFailure[];
  cases: readonly TestCase[];
  shown: string;
}

async function runCheck(
  check: Check,
  { root, folder }: Plan,
  { endsAt, context }: { endsAt: number; context: ShellContext },
): Promise<Done> {
  const { name } = check;
  const command = shownCommand(check, root);
  if (check.missing !== undefined) {
    const result = { name, command, exitCode: notFoundExit, success: false, durationMs: 0 };
    return {
      result,
      failures: [{ check: name, message: check.missing }],
      cases: [],
      shown: `${name}: ${check.missing}`,
    };
  }
  const ended = await start(check, folder, { timeoutMs: endsAt - context.now(), context });
  const { exitCode, success, durationMs, stdout, stderr, output } = ended;
  const parsed = check.parse({ stdout, stderr, output, exitCode, root, folder });
  const shown = parsed.shown ?? output;
  const findings = success ? [] : parsed.findings.length > 0 ? parsed.findings : [unread(shown, exitCode)];
  return {
    result: { name, command, exitCode, success, durationMs },
    failures: findings.map((finding) => ({ check: name, ...finding, message: cut(finding.message) })),
    cases: parsed.cases ?? [],
    shown: `${name}: ${command} (${exitCode})\n${shown}`,
  };
}

/** Each has a log of its own, beside the step's, because one process writes one log, and outlives the worker by itself. */
async function start(
  { name, command, args, env }: Check,
  folder: string,
  { timeoutMs, context }: { timeoutMs: number; context: ShellContext },
): Promise<ShellResult> {
  if (timeoutMs <= 0)
    throw new Failure('STEP_TIMEOUT', `the time of the step was over before "${name}" began; raise timeoutMs`);
  const { keeping } = context;
  return runShell(
    {
      command,
      ...(args === undefined ? {} : { args: [...args] }),
      ...surroundings(env, folder),
      timeoutMs,
      captureBytes: SHELL_BOUNDS.captureBytesMax,
      isKept: true,
    },
    {
      ...context,
      key: `${context.key}/${name.replaceAll(/\W/g, '-')}`,
      // Of checks before which its worker was lost, nobody has to be asked: none of them has begun.
      ...(keeping === undefined ? {} : { keeping: { processes: keeping.processes, ends: () => keeping.ends() } }),
    },
  );
}

const surroundings = (env: Check['env'], folder: string): { cwd: string; env: Record<string, string> } => ({
  cwd: folder === '' ? '.' : folder,
  env: { CI: '1', NO_COLOR: '1', FORCE_COLOR: '0', ...env },
});

/** All that decides what the check runs. */
export function shownCheck({ name, command, args, env, reads, missing }: Check, folder: string): JsonObject {
  return {
    name,
    command,
    ...(args === undefined ? {} : { args: [...args] }),
    ...defined({ reads, missing }),
    ...surroundings(env, folder),
  };
}

const shownCommand = ({ command, args, called }: Check, root: string): string => {
  if (called !== undefined) return called;
  const program = command.startsWith(join(root, '/')) ? command.slice(root.length + 1) : command;
  return [program, ...(args ?? [])].join(' ');
};

/** It failed, and nothing in what it printed says where. */
const unread = (shown: string, exitCode: number): Finding => ({
  message:
    shown.trim() === '' ? `it ended with ${exitCode} and said nothing` : tailOf(shown.trim(), messageLengthMax / 2),
});

const cut = (text: string): string => (text.length > messageLengthMax ? `${text.slice(0, messageLengthMax)}…` : text);

const tailOf = (text: string, length: number): string => (text.length > length ? `…${text.slice(-length)}` : text);
