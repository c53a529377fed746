/**
 * A program of its own: makes the Temporal SDK download its CLI into the folder given as the only
 * argument, then ends. The SDK has no call for the download alone, so a server is started and stopped.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

// The download goes through the proxy that the environment names. The server that is then started is on this machine.
process.env['no_grpc_proxy'] = 'localhost,127.0.0.1,::1';

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
