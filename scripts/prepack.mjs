// What npm runs before it packs: in a fresh clone it installs the dependencies first, then everything is built anew.
// Stdout is npm's own (`npm pack --json`).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function run(program, ...args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  process.stderr.write(`${program} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}\n`);
  process.exit(1);
}

if (!existsSync(`${root}/node_modules/.package-lock.json`)) {
  process.stderr.write('installing the dependencies\n');
  run('npm', 'ci', '--include=dev', '--no-audit', '--no-fund', '--dry-run=false');
}
run(process.execPath, 'scripts/build.mjs', '--clean');
