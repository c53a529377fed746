/** `integrate/test`: the tests, run by us, case by case; what fails is run a second time. */
import * as z from 'zod';
import { FAILURE_CODES } from '../../language/failure.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { Framework } from './begin.ts';
import { numbered, THE_RUN } from './judging/verdict.ts';
import { Settings } from './settings.ts';

const Status = z.enum(['passed', 'failed', 'skipped']);

export const TestedResult = z.strictObject({
  ran: z.boolean(),
  why: z.string(),
  cases: z.array(z.strictObject({ test: z.string(), status: Status })),
  failing: z.array(z.string()),
  flaky: z.array(z.string()),
  output: z.string(),
});
export type TestedResult = z.infer<typeof TestedResult>;

interface Once {
  cases: { test: string; status: z.infer<typeof Status> }[];
  failing: string[];
  output: string;
}

/** Pytest's, where it found none. */
const NO_TESTS = 5;
/**
 * The tests could not be run, or did not end: nothing is known of them. A code that is none of the engine's is what
 * `code/verify` itself states: that there is nothing to run.
 */
const UNRUN = ['STEP_TIMEOUT', 'MEMORY_LIMIT', 'SHELL_NOT_STARTED', 'FILE_NOT_FOUND'];
const isUnrun = ({ code }: Failure): boolean => UNRUN.includes(code) || !Object.hasOwn(FAILURE_CODES, code);

async function once({ check, folder }: z.infer<typeof Framework>, context: Context): Promise<Once | string> {
  const { testTimeoutMs } = Settings.parse(context.settings);
  try {
    const said = (await context.call('code/verify', {
      checks: [check],
      fullTest: true,
      cases: true,
      timeoutMs: testTimeoutMs,
      ...(folder === '' ? {} : { path: folder }),
    })) as {
      checks: { exitCode: number }[];
      cases: { file?: string; test: string; status: z.infer<typeof Status> }[];
      output: string;
    };
    const exitCode = said.checks[0]?.exitCode ?? 0;
    if (exitCode === 127 && said.cases.length === 0) return said.output;
    const cases = said.cases.map(({ file, test, status }) => ({
      test: file === undefined ? test : `${file} ${test}`,
      status,
    }));
    const failing = numbered(cases).flatMap(([test, status]) => (status === 'failed' ? [test] : []));
    const isNone = check === 'pytest' && exitCode === NO_TESTS;
    if (exitCode !== 0 && failing.length === 0 && !isNone) failing.push(THE_RUN);
    return { cases, failing, output: said.output };
  } catch (error) {
    if (error instanceof Failure && isUnrun(error)) return error.message;
    throw error;
  }
}

async function runTests(framework: z.infer<typeof Framework> | null, context: Context): Promise<TestedResult> {
  const nothing = { cases: [], failing: [], flaky: [], output: '' };
  if (framework === null) return { ran: false, why: 'no test framework was found', ...nothing };
  const first = await once(framework, context);
  if (typeof first === 'string') return { ran: false, why: first, ...nothing };
  if (first.failing.length === 0) return { ran: true, why: '', ...first, flaky: [] };
  const second = await once(framework, context);
  const again = new Set(typeof second === 'string' ? first.failing : second.failing);
  return {
    ran: true,
    why: '',
    ...first,
    // Only what fails twice is broken.
    failing: first.failing.filter((name) => again.has(name)),
    flaky: first.failing.filter((name) => !again.has(name)),
  };
}

export const testCommands: Command[] = [
  defineCommand({
    name: 'integrate/test',
    description: 'Runs the tests of the project, lists each with how it ended, and runs what fails a second time.',
    permission: 'shell',
    speed: 'long',
    timeoutMs: 3_600_000,
    textField: 'output',
    params: z.strictObject({ framework: Framework.nullable() }),
    result: TestedResult,
    run: ({ framework }, context) => runTests(framework, context),
  }),
];
