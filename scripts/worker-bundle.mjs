// The worker in one piece with its libraries, Temporal's among them: whoever waits for it waits for the next worker after
// a crash, and most of the time that a worker needed to start went into finding and reading its 2,000 modules.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { REQUIRE } from './cli-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const PART = 'part-';
const SDK = '@temporalio/worker';

/** What runs in a thread of its own has a file of its own. The names of the last two are those that the SDK asks for. */
const ENTRIES = [
  { in: 'worker/main.ts', out: 'main' },
  { in: 'worker/watchdog/watch-thread.ts', out: 'watch-thread' },
  { in: 'worker/webhooks/message-thread.ts', out: 'message-thread' },
  { in: 'workflows/messages/failure-converter.ts', out: 'failure-converter' },
  { in: `node_modules/${SDK}/lib/workflow/workflow-worker-thread.js`, out: 'workflow-worker-thread' },
];

/** Files of the built tree that are in one piece already, or that bring another copy of a library with them. */
const APART = [
  [/[/\\]generated[/\\]client\.ts$/, '../prisma/generated/client.js'],
  [/[/\\]for-projects\.ts$/, '../cli/for-projects.js'],
];
const builtApart = {
  name: 'built-apart',
  setup({ onResolve }) {
    for (const [filter, path] of APART) onResolve({ filter }, () => ({ path, external: true }));
  },
};

/** Who needs a package that the worker itself does not: npm may have put it where only they find it. */
const NEEDED_BY = { 'source-map': SDK };

/** In the place of `__dirname`: where npm put the file, since what is read or loaded from beside it is not bundled. */
function folderText(path) {
  const [, name, inside] = /.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)[/\\](.*)$/.exec(path);
  const owner = NEEDED_BY[name];
  const [text, require] =
    owner === undefined
      ? ['require', createRequire(import.meta.url)]
      : [
          `requireFrom(require.resolve(${JSON.stringify(owner)}))`,
          createRequire(createRequire(import.meta.url).resolve(owner)),
        ];
  const main = require.resolve(name);
  const folder = main.slice(0, main.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length);
  const steps = relative(dirname(main), join(folder, dirname(inside)))
    .split(sep)
    .join('/');
  return `require('node:path').join(require('node:path').dirname(${text}.resolve(${JSON.stringify(name)})), ${JSON.stringify(steps)})`;
}

const foldersOfPackages = {
  name: 'folders-of-packages',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]node_modules[/\\].*\.c?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      return /\b__dirname\b/.test(text) ? { contents: `const __dirname = ${folderText(path)};${text}` } : undefined;
    });
  },
};

/** The SDK bundles workflow code with webpack, which no worker needs whose bundle is built: its module stays outside. */
const bundlerApart = {
  name: 'bundler-apart',
  setup({ onLoad }) {
    onLoad({ filter: /@temporalio[/\\]worker[/\\]lib[/\\]workflow[/\\]bundler\.js$/ }, () => ({
      contents: `
        const own = requireFrom(import.meta.url);
        const bundler = () => own('${SDK}/lib/workflow/bundler.js');
        export const defaultWorkflowInterceptorModules = [own.resolve('${SDK}/lib/workflow-log-interceptor.js')];
        export const bundleWorkflowCode = (options) => bundler().bundleWorkflowCode(options);
        export const WorkflowCodeBundler = function (options) { return new (bundler().WorkflowCodeBundler)(options); };`,
    }));
  },
};

/** Replaces what was compiled to `dist/worker/main.js`; the files beside it are for who has a worker in their own process. */
export async function bundleWorker(outdir) {
  for (const name of existsSync(outdir) ? readdirSync(outdir) : [])
    if (name.startsWith(PART)) rmSync(join(outdir, name));
  rmSync(join(outdir, 'main.js.map'), { force: true });
  await build({
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Names and lines stay, for whoever reads a stack. Its first one would wait for the map to be read.
    sourcemap: false,
    logLevel: 'warning',
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir,
    // All in one folder: what the code finds from where it is, it finds from each of them.
    chunkNames: `${PART}[hash]`,
    allowOverwrite: true,
    plugins: [builtApart, bundlerApart, foldersOfPackages],
    external: [
      'pg-native',
      'jiti',
      'node-llama-cpp',
      'playwright-core',
      '@vscode/ripgrep',
      // Large, and wanted with the first turn, or the first server, alone.
      '@anthropic-ai/sdk',
      'openai',
      '@modelcontextprotocol/sdk',
    ],
    banner: REQUIRE,
  });
}
