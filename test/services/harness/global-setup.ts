/**
 * What files of this project share: the build, a Temporal server on this machine, and the supervisor as a
 * program. To find a server may mean to download one, which takes longer than a test may.
 */
import type { TestProject } from 'vitest/node';
import { buildWhenStale } from '../../server/harness/global-setup.ts';
import { obtainTemporal } from '../../server/harness/services.ts';
import { buildSupervisor } from './supervisor-build.ts';

declare module 'vitest' {
  interface ProvidedContext {
    supervisorProgram: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  buildWhenStale();
  await obtainTemporal(process.env);
  project.provide('supervisorProgram', await buildSupervisor());
}
