// Builds dist/: the Prisma client, the compiled sources, and the workflow bundle. Run by `npm run build`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const startedAt = new Date();
const root = fileURLToPath(new URL('..', import.meta.url));
const run = (script, args, env = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(1);
};

// Generating needs no database engine; naming any program keeps Prisma from downloading one.
run('prisma/build/index.js', ['generate'], { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1' });
run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);

const { buildBundle, BUNDLE_FILE } = await import(pathToFileURL(join(root, 'dist', 'worker', 'bundle.js')).href);
mkdirSync(join(root, 'dist'), { recursive: true });
writeFileSync(join(root, 'dist', BUNDLE_FILE), await buildBundle());
// The launcher builds again when a source is newer than this file; it is as old as the build's beginning.
writeFileSync(join(root, 'dist', '.built'), '');
utimesSync(join(root, 'dist', '.built'), startedAt, startedAt);
