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
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    from: { type: 'string', default: '1' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
});
const [count, from, jobs] = [Number(values.count), Number(values.from), Number(values.jobs)];
const kinds = ['evaluator', 'reader'].filter((kind) => values.only === undefined || values.only === kind);
if (kinds.length === 0 || ![count, from, jobs].every((number) => Number.isInteger(number) && number > 0)) {
  process.stderr.write('--only is evaluator or reader; --count, --from and --jobs are whole numbers from 1\n');
  process.exit(2);
}

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sentinel-fuzz-'));
const program = join(folder, 'run.mjs');
await build({ entryPoints: [join(root, 'test/fuzz/run.ts')], outfile: program, bundle: true, format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning' });

const share = Math.ceil(count / jobs);
const parts = kinds.flatMap((kind) => Array.from({ length: jobs }, (_, job) => ({ kind, from: from + job * share, count: Math.min(share, count - job * share) })))
  .filter((part) => part.count > 0);

const runPart = (part) =>
  new Promise((resolve) => {
    const args = [program, '--kind', part.kind, '--from', String(part.from), '--count', String(part.count)];
    spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] }).on('close', (code) => resolve(code === 0));
  });

const startedAt = Date.now();
let failed = 0;
const runNext = async () => {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) if (!(await runPart(part))) failed += 1;
};
await Promise.all(Array.from({ length: jobs }, runNext));
rmSync(folder, { recursive: true, force: true });
const seconds = Math.round((Date.now() - startedAt) / 1000);
process.stdout.write(`${kinds.map((kind) => `${count} inputs for the ${kind}`).join(', ')} in ${seconds} s: ${failed === 0 ? 'nothing found' : 'see the findings above'}\n`);
process.exit(failed === 0 ? 0 : 1);
