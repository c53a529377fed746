// Everything that has to hold before a change lands: `npm test`, `npm run check` and CI.
//
// Uses nothing but Node at first, because it also installs: dependencies where they are missing, and,
// where it may, the Debian packages that some tests need. Every step runs even when an earlier one
// failed. A step that this machine cannot do is named as skipped. The last line sums up the whole run.
//
//   npm test                     types, lint, build, all quick tests
//   npm test -- --slow           and the slow ones
//   npm test -- --only NAME ...  some steps: install, types, lint, build, or a vitest project
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const argv = process.argv.slice(2);
const only = argv.includes('--only') ? argv.slice(argv.indexOf('--only') + 1) : null;
const projects = ['fast', 'store', 'services', 'server', 'browser', ...(argv.includes('--slow') ? ['slow'] : [])];
const reports = mkdtempSync(join(tmpdir(), 'sentinel-check-'));
const totals = { passed: 0, failed: 0, skipped: /** @type {string[]} */ ([]) };

const wanted = (name) => only === null || only.includes(name);
const call = (command, args, env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } });

function step(name, run) {
  if (!wanted(name)) return;
  const startedAt = Date.now();
  process.stdout.write(`\n── ${name}\n`);
  const isOk = run();
  totals[isOk ? 'passed' : 'failed'] += 1;
  process.stdout.write(`── ${name}: ${isOk ? 'ok' : 'FAILED'} (${Math.round((Date.now() - startedAt) / 1000)} s)\n`);
}

function isInstalled() {
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return installed !== undefined && statSync(join(root, 'package-lock.json')).mtimeMs <= installed.mtimeMs;
}

function installBrowser() {
  if (findChromium() !== null) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !existsSync('/usr/bin/apt-get')) return;
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  process.stdout.write('installing chromium for the browser tests\n');
  const apt = (...args) => spawnSync('apt-get', ['-qq', ...args], { stdio: 'ignore', env: { ...process.env, ...quiet } });
  if (apt('install', '-y', '--no-install-recommends', 'chromium').status === 0) return;
  apt('update');
  apt('install', '-y', '--no-install-recommends', 'chromium');
}

function findChromium() {
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path)) ?? null;
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
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', project, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const { status } = call(process.execPath, args);
  if (!existsSync(file)) {
    totals.failed += 1;
    process.stdout.write(`── tests: ${project}: no report was written\n`);
    return;
  }
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const brokenFiles = report.testResults.filter((result) => result.status === 'failed' && result.assertionResults.length === 0).length;
  totals.passed += report.numPassedTests;
  totals.failed += report.numFailedTests + brokenFiles;
  for (const result of report.testResults) {
    for (const test of result.assertionResults) {
      if (test.status === 'pending' || test.status === 'skipped') totals.skipped.push(test.fullName);
    }
  }
  const isQuiet = report.numFailedTests + brokenFiles === 0;
  if (isQuiet && (status !== 0 || report.numPassedTests === 0)) {
    totals.failed += 1;
    process.stdout.write(`── tests: ${project}: ended with ${status}, although no test failed\n`);
  }
}

if (!isInstalled()) step('install', () => call('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']).status === 0);
installBrowser();
// The build makes the database client that types and tests need.
step('build', () => call(process.execPath, ['scripts/build.mjs']).status === 0);
step('types', () => call(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']).status === 0);
step('lint', () => call(process.execPath, ['node_modules/oxlint/bin/oxlint', '--type-aware', '--quiet']).status === 0);
for (const project of projects) runProject(project);

rmSync(reports, { recursive: true, force: true });
process.stdout.write('\n');
for (const name of totals.skipped) process.stdout.write(`skipped: ${name}\n`);
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed\n`);
process.exit(totals.failed === 0 ? 0 : 1);
