// Everything that has to hold before a change lands: `npm test` and `npm run soak`. CI runs both (.ci/run).
//
// Uses nothing but Node at first, because it also installs: dependencies where they are missing, and,
// where it may, the Debian packages that some tests need. Every step runs even when an earlier one
// failed. A step that this machine cannot do is named as skipped. What failed is said again, with its
// reason, before the last line, which sums up the whole run.
//
//   npm test                     build, types, format, lint, and the tests that a change is held against
//   npm run soak                 the tests that take long: many random runs, a local model, long loops, crowds, chaos;
//                                of those that take turns a quarter, another for each commit
//   npm run soak -- --all        all four quarters
//   npm test -- --only NAME ...  some steps: install, build, types, format, lint, or a vitest project
//   npm run soak -- --sum        adds the latest `npm test`: the last line is that of both
//
// .check/timings.json keeps how long each test file took in the latest runs.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTestProject } from './checking/test-project.mjs';
import { reportTimings } from './checking/timings.mjs';
import { Totals } from './checking/totals.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const kept = join(root, '.check');
const startedAt = new Date();
const argv = process.argv.slice(2);
const only = argv.includes('--only') ? argv.slice(argv.indexOf('--only') + 1) : null;
const isSoak = argv.includes('--soak');
const isSum = argv.includes('--sum');
const inTurns = ['slow-fast', 'slow-store', 'slow-services', 'slow-server', 'slow-kill'];
const projects = isSoak
  ? ['random', 'models', ...inTurns, 'chaos']
  : ['fast', 'alone', 'store', 'services', 'server', 'kill', 'browser'];
const quarter = isSoak && !argv.includes('--all') ? `${turn() + 1}/4` : undefined;
// Chaos makes the same choices each time, so that what CI says is about the change; `npm run chaos` makes others.
const settings = { chaos: { SENTINEL_CHAOS_SEED: process.env.SENTINEL_CHAOS_SEED ?? '7' } };
const totals = new Totals();
const files = [];

const wanted = (name) => only === null || only.includes(name);
const call = (command, args) => spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

function step(name, run) {
  if (!wanted(name)) return;
  const began = Date.now();
  process.stdout.write(`\n── ${name}\n`);
  const isOk = run();
  if (isOk) totals.passed += 1;
  else totals.failures.push(name);
  process.stdout.write(`── ${name}: ${isOk ? 'ok' : 'FAILED'} (${Math.round((Date.now() - began) / 1000)} s)\n`);
}

function isInstalled() {
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return installed !== undefined && statSync(join(root, 'package-lock.json')).mtimeMs <= installed.mtimeMs;
}

/** 0 to 3: the commit says which, so that a failure comes again; where there is none, the day does. */
function turn() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const commit = Number.parseInt(stdout?.slice(0, 8) ?? '', 16);
  return (Number.isNaN(commit) ? Math.floor(startedAt.getTime() / 86_400_000) : commit) % 4;
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
  const part = inTurns.includes(project) ? quarter : undefined;
  files.push(...runTestProject(project, totals, { part, env: settings[project] }));
}

const program = (path, ...args) => call(process.execPath, [join('node_modules', path), ...args]).status === 0;

function checkSources() {
  step('types', () => program('typescript/bin/tsc', '--noEmit', '-p', '.'));
  step('format', () => program('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'));
  step('lint', () => program('oxlint/bin/oxlint', '--type-aware', '--quiet'));
}

if (!isInstalled()) step('install', () => call('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']).status === 0);
installPackages();
// The build makes the database client that types and tests need. A soak takes the one that is there: global
// set-up makes it anew where sources have changed.
if (!isSoak || !existsSync(join(root, 'dist', '.built')))
  step('build', () => call(process.execPath, ['scripts/build.mjs']).status === 0);
if (!isSoak) checkSources();
if (quarter !== undefined) process.stdout.write(`\n── of the tests that take turns: part ${quarter}\n`);
for (const project of projects) runProject(project);

const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
reportTimings(kept, { command: isSoak ? 'soak' : 'test', startedAt, seconds, files });
totals.keep(kept, isSoak ? 'soak' : 'test');
if (isSum) totals.add(kept, 'test');
totals.print();
process.exit(totals.failures.length === 0 ? 0 : 1);
