// The long fuzz of the language: a million inputs for the evaluator and a million for the reader.
//
//   npm run fuzz                             both, two processes at a time
//   npm run fuzz -- --count 20000            fewer
//   npm run fuzz -- --only reader --from 7   one kind, from this seed on
//   npm run fuzz -- --only reader --from 7 --count 1     one input again
//
// Prints each finding as a line of JSON with the seed that makes it, and exits with 1 if there was one.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { build } from 'esbuild';
import { REQUIRE } from './cli-bundle.mjs';

const KINDS = ['evaluator', 'reader'];
const whole = (text) => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return number;
};
const { count, from, jobs, only } = new Command('fuzz')
  .description(
    'Hostile inputs for the language: no crash, no hang, nothing inherited read, the same answer twice. Exit code 1 when there is a finding.',
  )
  .option('--count <n>', 'inputs of each kind', whole, 1_000_000)
  .option('--from <seed>', 'the first seed', whole, 1)
  .addOption(new Option('--only <kind>', 'one kind').choices(KINDS))
  .option('--jobs <n>', 'processes at a time', whole, 2)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts();
const kinds = only === undefined ? KINDS : [only];

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sentinel-fuzz-'));
const program = join(folder, 'run.mjs');
await build({
  entryPoints: [join(root, 'test/fuzz/run.ts')],
  outfile: program,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  banner: REQUIRE,
});

const share = Math.ceil(count / jobs);
const parts = kinds
  .flatMap((kind) =>
    Array.from({ length: jobs }, (_, job) => ({
      kind,
      from: from + job * share,
      count: Math.min(share, count - job * share),
    })),
  )
  .filter((part) => part.count > 0);

const runPart = (part) =>
  new Promise((resolve) => {
    const args = [program, '--kind', part.kind, '--from', String(part.from), '--count', String(part.count)];
    spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] }).on('close', (code) =>
      resolve(code === 0),
    );
  });

const startedAt = Date.now();
let failed = 0;
const runNext = async () => {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) if (!(await runPart(part))) failed += 1;
};
await Promise.all(Array.from({ length: jobs }, runNext));
rmSync(folder, { recursive: true, force: true });
const seconds = Math.round((Date.now() - startedAt) / 1000);
process.stdout.write(
  `${kinds.map((kind) => `${count} inputs for the ${kind}`).join(', ')} in ${seconds} s: ${failed === 0 ? 'nothing found' : 'see the findings above'}\n`,
);
process.exit(failed === 0 ? 0 : 1);
