/**
 * Before the tests that need a server: dist/ is built when a source is newer, and one Temporal server
 * and one Postgres are started for all files. Each file has its own database and task queue.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { startServices } from './services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    temporalAddress: string;
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sources = [
  'language',
  'interpreter',
  'workflows',
  'activities',
  'world',
  'operations',
  'systems',
  'services',
  'runs',
  'worker',
  'client',
  'authoring',
  'cli',
  'prisma/store',
];

export function buildWhenStale(): void {
  const built = join(root, 'dist', '.built');
  const builtAt = existsSync(built) ? statSync(built).mtimeMs : 0;
  const isStale = sources.some((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .some((name) => statSync(join(root, folder, name)).mtimeMs > builtAt),
  );
  if (isStale) execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root, stdio: 'inherit' });
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  buildWhenStale();
  const services = await startServices();
  project.provide('temporalAddress', services.temporalAddress);
  project.provide('postgresUrl', services.postgresUrl);
  return () => services.stop();
}
