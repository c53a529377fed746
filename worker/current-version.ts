/**
 * Which version of a deployment new runs start on. A version is known to the server once one of its
 * workers polls, and until a version is current new runs wait: so the first one makes itself current,
 * and every later one does when it is told to.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeConnection } from '@temporalio/worker';
import type { WorkerVersion } from '../services/config/config.ts';

const RETRY_MS = 250;
const KNOWN_WITHIN_MS = 60_000;
/** gRPC: the version has no poller yet, or the deployment is being written by another. */
const NOT_YET = new Set([5, 9, 10, 14]);

/** Build id of the version that new runs start on; null where none does yet. */
export async function currentBuild(
  connection: NativeConnection,
  namespace: string,
  deploymentName: string,
): Promise<string | null> {
  try {
    const { workerDeploymentInfo } = await connection.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId ?? null;
  } catch (error) {
    if (codeOf(error) === 5) return null;
    throw error;
  }
}

/** Answers with the build id that is current afterwards. */
export async function settleCurrent(
  connection: NativeConnection,
  namespace: string,
  version: WorkerVersion,
  takeOver: boolean,
): Promise<string> {
  const { deploymentName, buildId } = version;
  const giveUpAt = Date.now() + KNOWN_WITHIN_MS;
  for (;;) {
    const current = await currentBuild(connection, namespace, deploymentName);
    if (current === buildId || (current !== null && !takeOver)) return current;
    try {
      await connection.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId });
      return buildId;
    } catch (error) {
      if (!NOT_YET.has(codeOf(error) ?? -1) || Date.now() > giveUpAt) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function codeOf(error: unknown): number | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null;
}
