// Everything that has to hold before a change lands, in three stages: `npm test`, `npm run systems` and `npm run soak`.
// CI runs all three (.ci/run). Each has a time that it may take on two cores, and says loudly when it took more.
//
// Uses nothing but Node at first, because it also installs: dependencies where they are missing, and,
// where it may, the Debian packages that some tests need. Every step runs even when an earlier one
// failed. A step that this machine cannot do is named as skipped. What failed is said again, with its
// reason, before the last line, which sums up the whole run.
//
//   npm test                     build, types, format, lint, and the tests that a change is held against
//   npm run systems              the systems, as a project of its own has them: from the packed tarball, over every door,
//                                with kills, a browser, a model on this machine
//   npm run soak                 the tests that take long: many random runs, long loops, crowds, chaos, and some minutes
//                                of the campaign; of those that take turns a sixth, another for each commit
//   npm run soak -- --all        all of them
//   npm test -- --only NAME ...  some steps: install, build, types, format, lint, or a vitest project
//   npm run soak -- --sum        adds the latest of the other two: the last line is that of all three
//
// .check/timings.json keeps how long each test file took in the latest runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { indented, runTestProject } from './checking/test-project.mjs';
import { reportTimings } from './checking/timings.mjs';
import { Totals } from './checking/totals.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const kept = join(root, '.check');
const startedAt = new Date();
const argv = process.argv.slice(2);
const only = argv.includes('--only') ? argv.slice(argv.indexOf('--only') + 1) : null;
const isSum = argv.includes('--sum');
/** The test projects of each stage, the minutes that it may take on two cores, and what of it takes turns. */
const stages = JSON.parse(readFileSync(join(root, 'scripts', 'checking', 'stages.json'), 'utf8'));
const stage = ['systems', 'soak'].find((name) => argv.includes(`--${name}`)) ?? 'test';
const { projects, minutes, parts = 1, inParts = [], campaignMinutes = 0 } = stages[stage];
const part = parts > 1 && !argv.includes('--all') ? `${turn() + 1}/${parts}` : undefined;
// Chaos makes the same choices each time, so that what CI says is about the change; `npm run chaos` makes others.
const settings = { chaos: { SENTINEL_CHAOS_SEED: process.env.SENTINEL_CHAOS_SEED ?? '7' } };
const totals = new Totals();
const files = [];
const took = [];

const wanted = (name) => only === null || only.includes(name);
const call = (command, args) => spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

/** `run` says whether it went well, or why it did not. */
function step(name, run) {
  if (!wanted(name)) return;
  const began = Date.now();
  process.stdout.write(`\n── ${name}\n`);
  const said = run();
  const isOk = said === true;
  if (isOk) totals.passed += 1;
  else totals.failures.push(said === false ? name : `${name}\n${indented(said)}`);
  process.stdout.write(`── ${name}: ${isOk ? 'ok' : 'FAILED'} (${Math.round((Date.now() - began) / 1000)} s)\n`);
}

function isInstalled() {
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return installed !== undefined && statSync(join(root, 'package-lock.json')).mtimeMs <= installed.mtimeMs;
}

/** From 0 on: the commit says which, so that a failure comes again; where there is none, the day does. */
function turn() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const commit = Number.parseInt(stdout?.slice(0, 8) ?? '', 16);
  return (Number.isNaN(commit) ? Math.floor(startedAt.getTime() / 86_400_000) : commit) % parts;
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
  const began = Date.now();
  files.push(
    ...runTestProject(project, totals, { part: inParts.includes(project) ? part : undefined, env: settings[project] }),
  );
  took.push(`${project} ${Math.round((Date.now() - began) / 1000)} s`);
}

const program = (path, ...args) => call(process.execPath, [join('node_modules', path), ...args]).status === 0;

function checkSources() {
  step('types', () => program('typescript/bin/tsc', '--noEmit', '-p', '.'));
  step('format', () => program('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'));
  step('lint', () => program('oxlint/bin/oxlint', '--type-aware', '--quiet'));
}

/** Workers that die at named points, under every sixth kind of run; another sixth for each commit. */
function runCampaign() {
  const share = ['--part', argv.includes('--all') ? '1/1' : `${turn() + 1}/${parts}`];
  const bounds = ['--seed', String(turn() + 1), '--points', '100000', '--minutes', String(campaignMinutes)];
  if (!program('typescript/bin/tsc', '-p', 'test/campaign/tsconfig.json')) return false;
  const { status, said } = callAndHear(process.execPath, ['dist/test/campaign/main.js', ...bounds, ...share]);
  return status === 0 || said;
}

/** Shown while it runs; its exit code and its last lines are the reason where it fails. */
function callAndHear(command, args) {
  mkdirSync(kept, { recursive: true });
  const path = join(kept, 'said.txt');
  // Nothing that it may leave behind is waited for.
  const line = '"$@" > >(tee "$SAID") 2>&1; status=$?; sleep 1; exit "$status"';
  const { status } = spawnSync('bash', ['-c', line, 'bash', command, ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, SAID: path },
  });
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').slice(-18);
  return { status, said: [`exit code ${status}`, ...lines.map((text) => text.slice(0, 1500))].join('\n') };
}

const skippedStatus = 77;

/** From data to a layer in another home while whoever takes part is killed, with a tiny model. */
function runGenomeProof() {
  if (!program('typescript/bin/tsc', '-p', 'test/genome-proof/tsconfig.json')) return false;
  const asked = ['dist/test/genome-proof/main.js', '--quick', '--seed', String(turn() + 1)];
  const { status, said } = callAndHear(process.execPath, asked);
  if (status === skippedStatus) totals.skipped.push('genome-proof (no trainer)');
  return status === 0 || status === skippedStatus || said;
}

function reportBudget() {
  const words = `${stage} took ${(seconds / 60).toFixed(1)} of its ${minutes} minutes: ${took.join(', ')}`;
  const isOver = only === null && !argv.includes('--all') && seconds > minutes * 60;
  process.stdout.write(isOver ? `\n!!! OVER ITS BUDGET: ${words}\n` : `\n── ${words}\n`);
}

if (!isInstalled()) step('install', () => call('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']).status === 0);
installPackages();
// The build makes the database client that types and tests need. The other stages take the one that is there: global
// set-up makes it anew where sources have changed.
if (stage === 'test' || !existsSync(join(root, 'dist', '.built')))
  step('build', () => call(process.execPath, ['scripts/build.mjs']).status === 0);
if (stage === 'test') checkSources();
if (part !== undefined) process.stdout.write(`\n── of the tests that take turns: part ${part}\n`);
for (const project of projects) runProject(project);
if (stage === 'systems') step('genome-proof', runGenomeProof);
if (campaignMinutes > 0) step('campaign', runCampaign);

const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
reportTimings(kept, { command: stage, startedAt, seconds, files });
totals.keep(kept, stage);
if (isSum) for (const name of Object.keys(stages)) if (name !== stage) totals.add(kept, name);
reportBudget();
totals.print();
process.exit(totals.failures.length === 0 ? 0 : 1);
