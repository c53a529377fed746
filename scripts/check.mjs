// Everything that has to hold before a change lands: `npm test`, `npm run check` and CI.
//
// Uses nothing but Node at first, because it also installs: dependencies where they are missing, and,
// where it may, the Debian packages that some tests need. Every step runs even when an earlier one
// failed. A step that this machine cannot do is named as skipped. What failed is said again, with its
// reason, before the last line, which sums up the whole run.
//
//   npm test                     types, lint, build, all quick tests
//   npm test -- --slow           and the slow ones
//   npm test -- --only NAME ...  some steps: install, build, types, format, lint, or a vitest project
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const argv = process.argv.slice(2);
const only = argv.includes('--only') ? argv.slice(argv.indexOf('--only') + 1) : null;
const isSlow = argv.includes('--slow');
const projects = ['fast', 'store', 'services', 'server', 'browser', ...(isSlow ? ['slow', 'chaos'] : [])];
// Slowly, a database that stays away does so for a minute (test/server/kill/services.test.ts). Chaos makes
// the same choices each time, so that what a check says is about the change; `npm run chaos` makes others.
const patience = isSlow
  ? { SENTINEL_TEST_AWAY_MS: '60000', SENTINEL_CHAOS_SEED: process.env.SENTINEL_CHAOS_SEED ?? '7' }
  : {};
const reports = mkdtempSync(join(tmpdir(), 'sentinel-check-'));
const totals = { passed: 0, failures: /** @type {string[]} */ ([]), skipped: /** @type {string[]} */ ([]) };

const wanted = (name) => only === null || only.includes(name);
const call = (command, args, env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } });

function step(name, run) {
  if (!wanted(name)) return;
  const startedAt = Date.now();
  process.stdout.write(`\n── ${name}\n`);
  const isOk = run();
  if (isOk) totals.passed += 1;
  else totals.failures.push(name);
  process.stdout.write(`── ${name}: ${isOk ? 'ok' : 'FAILED'} (${Math.round((Date.now() - startedAt) / 1000)} s)\n`);
}

function isInstalled() {
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return installed !== undefined && statSync(join(root, 'package-lock.json')).mtimeMs <= installed.mtimeMs;
}

/** What some tests need and most machines lack; without it they are skipped by name. */
function installPackages() {
  const missing = [...(findChromium() === null ? ['chromium'] : []), ...(isOnPath('bwrap') ? [] : ['bubblewrap'])];
  const isRoot = process.getuid?.() === 0;
  if (missing.length === 0 || !isRoot || !existsSync('/usr/bin/apt-get')) return;
  process.stdout.write(`installing ${missing.join(' and ')} for the tests\n`);
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', ...args], { stdio: 'ignore', env: { ...process.env, ...quiet } });
  const install = () =>
    missing.map((name) => apt('install', '-y', '--no-install-recommends', name).status).every((status) => status === 0);
  if (install()) return;
  apt('update');
  install();
}

const isOnPath = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

function findChromium() {
  return (
    ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path)) ??
    null
  );
}

function runProject(project) {
  if (!wanted(project)) return;
  if (project === 'browser' && findChromium() === null) {
    process.stdout.write('\n── browser: skipped, no Chromium is installed and this user cannot install it\n');
    totals.skipped.push('browser (no Chromium)');
    return;
  }
  process.stdout.write(`\n── tests: ${project}\n`);
  const file = join(reports, `${project}.json`);
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ];
  const { status } = call(process.execPath, args, patience);
  if (!existsSync(file)) {
    totals.failures.push(`${project}: no report was written`);
    return;
  }
  addReport(project, JSON.parse(readFileSync(file, 'utf8')), status);
}

function addReport(project, report, status) {
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

const indented = (text) =>
  text
    .split('\n')
    .slice(0, 20)
    .map((line) => `    ${line}`)
    .join('\n');

if (!isInstalled()) step('install', () => call('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']).status === 0);
installPackages();
// The build makes the database client that types and tests need.
step('build', () => call(process.execPath, ['scripts/build.mjs']).status === 0);
step('types', () => call(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']).status === 0);
step(
  'format',
  () =>
    call(process.execPath, ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.']).status ===
    0,
);
step('lint', () => call(process.execPath, ['node_modules/oxlint/bin/oxlint', '--type-aware', '--quiet']).status === 0);
for (const project of projects) runProject(project);

rmSync(reports, { recursive: true, force: true });
process.stdout.write('\n');
for (const name of totals.skipped) process.stdout.write(`skipped: ${name}\n`);
for (const failure of totals.failures) process.stdout.write(`FAILED: ${failure}\n`);
process.stdout.write(`${totals.passed} passed, ${totals.failures.length} failed\n`);
process.exit(totals.failures.length === 0 ? 0 : 1);
