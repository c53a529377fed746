// Runs one test project of vitest.config.ts and reads what came of it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Adds its tests, or those of a part as `2/4` of its files, to the totals; answers with how long each file took. */
export function runTestProject(project, totals, { part, env = {} } = {}) {
  process.stdout.write(`\n── tests: ${project}\n`);
  const reports = mkdtempSync(join(tmpdir(), 'sentinel-check-'));
  const [report, times] = [join(reports, 'report.json'), join(reports, 'times.json')];
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      '--reporter=./scripts/checking/file-times.mjs',
      ...(part === undefined ? [] : [`--shard=${part}`]),
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env, SENTINEL_FILE_TIMES: times },
    },
  );
  const { files, unhandled } = existsSync(times)
    ? JSON.parse(readFileSync(times, 'utf8'))
    : { files: [], unhandled: [] };
  totals.failures.push(...unhandled.map((error) => `${project}: an error outside of any test\n${indented(error)}`));
  if (existsSync(report)) {
    addReport(project, JSON.parse(readFileSync(report, 'utf8')), unhandled.length === 0 ? status : 0, totals);
  } else totals.failures.push(`${project}: no report was written`);
  rmSync(reports, { recursive: true, force: true });
  return files;
}

function addReport(project, report, status, totals) {
  const failures = report.testResults.flatMap((file) => failuresOf(project, file));
  totals.passed += report.numPassedTests;
  totals.failures.push(...failures);
  for (const result of report.testResults) {
    for (const test of result.assertionResults) {
      if (test.status === 'pending' || test.status === 'skipped') totals.skipped.push(test.fullName);
    }
  }
  if (failures.length === 0 && (status !== 0 || report.numPassedTests === 0)) {
    totals.failures.push(`${project}: ended with ${status}, although no test failed`);
  }
}

/** The failed tests of one file, or the file itself when it could not be run at all. */
function failuresOf(project, { name: path, status, message, assertionResults: tests }) {
  const name = `${project}: ${relative(root, path)}`;
  if (status === 'failed' && tests.length === 0) return [`${name}\n${indented(message)}`];
  return tests
    .filter((test) => test.status === 'failed')
    .map((test) => `${name}: ${test.fullName}\n${indented(test.failureMessages.join('\n'))}`);
}

export const indented = (text) =>
  text
    .split('\n')
    .slice(0, 20)
    .map((line) => `    ${line}`)
    .join('\n');
