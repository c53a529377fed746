/** The workflow code a worker runs: built once into dist/, or bundled now where it is missing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

export const BUNDLE_FILE = 'workflow-bundle.js';

/** `workflowsPath` differs between sources (.ts) and dist (.js); both stand beside worker/. */
export function workflowsPath(): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const compiled = join(here, '..', 'workflows', 'sentinel.js');
  return existsSync(compiled) ? compiled : join(here, '..', 'workflows', 'sentinel.ts');
}

export async function buildBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: workflowsPath(),
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: (config) => ({ ...config, mode: 'production', devtool: 'inline-nosources-source-map', performance: { hints: false }, optimization: { minimize: false } }),
  });
  return code;
}

export async function loadBundle(packageRoot: string): Promise<WorkflowBundleOption> {
  const codePath = join(packageRoot, 'dist', BUNDLE_FILE);
  return existsSync(codePath) ? { codePath } : { code: await buildBundle() };
}
