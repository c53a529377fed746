/** The twin's workflow code, bundled as Sentinel's own is. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { readable } from '../../runs/bundle.ts';

/** Writes the code into the folder and returns its file. */
export async function writeTwinBundle(folder: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
    webpackConfigHook: readable,
  });
  const file = join(folder, 'twin-bundle.js');
  await writeFile(file, code);
  return file;
}
