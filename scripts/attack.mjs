// Every attempt of a definition, an event or a setting to get out of what holds it, in one command:
// `npm run attack` prints `N held, M fell`, and names each that fell. They are tests like all others, in files
// named after what is attacked, and run with `npm test` or the soak, too. What this machine cannot try is named as skipped.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sentinel-attack-'));
const report = join(folder, 'report.json');
/** By what their paths contain: attacks, and what holds against those on questions, terminals, values, events, services and webhooks. */
const subjects = [
  'attack',
  'hostile',
  'rated',
  'shown-action',
  'whole-action',
  'second-answer',
  'reserved-events',
  'value-bounds',
  'webhook',
  'looking',
  'ending',
  'visible',
  'kept-worker',
];
const projects = ['fast', 'store', 'services', 'server', 'kill'].flatMap((name) => [
  '--project',
  name,
  '--project',
  `slow-${name}`,
]);
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects,
    ...subjects,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
);
const files = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : [];
rmSync(folder, { recursive: true, force: true });

const attempts = files.flatMap((file) =>
  file.assertionResults.map((test) => ({
    status: test.status,
    name: `${relative(root, file.name)}: ${test.fullName}`,
  })),
);
const broken = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
const named = (outcome) => attempts.filter((attempt) => attempt.status === outcome).map(({ name }) => name);
const fell = [...named('failed'), ...broken.map((file) => `${relative(root, file.name)}: could not be run`)];
const skipped = [...named('pending'), ...named('skipped')];

process.stdout.write('\n');
for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
for (const name of fell) process.stdout.write(`FELL: ${name}\n`);
process.stdout.write(`${named('passed').length} held, ${fell.length} fell\n`);
process.exit(fell.length === 0 && status === 0 && attempts.length > 0 ? 0 : 1);
