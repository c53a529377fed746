/**
 * A program of its own: makes the Temporal SDK download its CLI into the folder given as the only
 * argument, then ends. The SDK has no call for the download alone, so a server is started and stopped.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [, , downloadDir] = process.argv;
if (downloadDir === undefined) throw new Error('bug: temporal-download needs a folder');

try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir } },
  });
  await environment.teardown();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
