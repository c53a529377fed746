// Builds dist/: the Prisma client, the compiled sources, what is written from them (generated.mjs), the workflow
// bundle, and the command line and the worker in one piece each with their libraries, so that they start quickly. Run by
// `npm run build`. With `--clean` it empties dist/ first: a package holds nothing that only an earlier build made.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleCli, bundlePrisma } from './cli-bundle.mjs';
import { keepDeclarations } from './declarations.mjs';
import { beginTypes, writeGenerated } from './generated.mjs';
import { bundleWorker } from './worker-bundle.mjs';

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

if (process.argv.includes('--clean')) rmSync(join(root, 'dist'), { recursive: true, force: true });

// Generating needs no database engine; naming any program keeps Prisma from downloading one.
run('prisma/build/index.js', ['generate'], {
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
});
beginTypes(root);
run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
if (await writeGenerated(root)) run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
keepDeclarations(root);
await bundlePrisma(join(root, 'dist', 'prisma', 'generated', 'client.js'));

const { buildBundle, BUNDLE_FILE } = await import(pathToFileURL(join(root, 'dist', 'runs', 'bundle.js')).href);
writeFileSync(join(root, 'dist', BUNDLE_FILE), await buildBundle());

const catalogueModule = await import(pathToFileURL(join(root, 'dist', 'systems', 'catalogue.js')).href);
/** A verb that reads a definition needs what the commands state, not their schemas and their code. */
const catalogueAsValue = {
  name: 'catalogue-as-value',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]systems[/\\]catalogue\.ts$/ }, () => ({
      contents: Object.keys(catalogueModule)
        .map((name) => `export const ${name} = () => (${JSON.stringify(catalogueModule[name]())});`)
        .join('\n'),
    }));
  },
};

rmSync(join(root, 'dist', 'cli'), { recursive: true, force: true });
await bundleCli(join(root, 'dist', 'cli'), [catalogueAsValue]);
await bundleWorker(join(root, 'dist', 'worker'));

// What a worker runs, by content: services restart when it differs, not whenever it was built.
const hash = createHash('sha256');
for (const name of readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).toSorted()) {
  if (!name.endsWith('.js') || /^(?:cli|client|authoring)[/\\]/.test(name)) continue;
  hash.update(name).update(readFileSync(join(root, 'dist', name)));
}
writeFileSync(join(root, 'dist', 'build-id'), hash.digest('hex').slice(0, 16));

// The launcher builds again when a source is newer than this file; it is as old as the build's beginning.
writeFileSync(join(root, 'dist', '.built'), '');
utimesSync(join(root, 'dist', '.built'), startedAt, startedAt);
