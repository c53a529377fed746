/** The workflow code a worker runs: built once into dist/, or bundled now where it is missing. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../services/config/config.ts';
import { ownRoot } from '../services/home/package-root.ts';
import { type BundleOptions, bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

export const BUNDLE_FILE = 'workflow-bundle.js';

/**
 * The SDK takes a stack trace for every promise in workflow code, for the Web UI's "Call Stack". Ours
 * would show the interpreter, never the definition, so one frame, the place of an error, is enough.
 * On the first line, before the source map's first position.
 */
const STACK_DEPTH = 'Error.stackTraceLimit=1;';

/** Node loads it by its path. It shares the libraries of the built worker; one that runs from sources takes it, too. */
export const failureConverterPath = join(ownRoot, 'dist', 'worker', 'failure-converter.js');

/** A module of workflows/, compiled (.js) in dist/ and as it is (.ts) in the sources. */
const workflowModule = (name: string): string =>
  import.meta.url.endsWith('.ts')
    ? join(ownRoot, 'workflows', `${name}.ts`)
    : join(ownRoot, 'dist', 'workflows', `${name}.js`);

/** Code that keeps its names, and a source map without the sources. */
export const readable: NonNullable<BundleOptions['webpackConfigHook']> = (config) => ({
  ...config,
  mode: 'production',
  devtool: 'inline-nosources-cheap-module-source-map',
  performance: { hints: false },
  optimization: { minimize: false },
});

export async function buildBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: workflowModule('sentinel'),
    // No module keeps state, so all workflows of a worker share what they evaluate to, and what V8 has
    // learnt about their functions: evaluated anew for each run they would begin as cold code.
    preloadModules: [workflowModule('sentinel')],
    failureConverterPath: workflowModule('messages/failure-converter'),
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: readable,
  });
  return `${STACK_DEPTH}${code}`;
}

export async function loadBundle(packageRoot: string): Promise<WorkflowBundleOption> {
  const codePath = join(packageRoot, 'dist', BUNDLE_FILE);
  return existsSync(codePath) ? { codePath } : { code: await buildBundle() };
}

/** Of this version, as its workers run it. */
export const ownBundle = (): Promise<WorkflowBundleOption> => loadBundle(readConfig().packageRoot);

/**
 * Names the workflow code in twelve digits: every task in a history carries the name of the build that
 * worked on it, and the SDK's own, a hundred characters, would be a quarter of the history.
 */
export async function buildIdOf(bundle: WorkflowBundleOption): Promise<string> {
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath);
  return createHash('sha256').update(code).digest('hex').slice(0, 12);
}
