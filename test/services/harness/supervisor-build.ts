/**
 * The supervisor is a program; tests run it as one. This bundles it (dependencies stay outside)
 * into a folder from which node finds the package and its dependencies.
 */
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export async function buildSupervisor(): Promise<string> {
  const outdir = join(root, 'node_modules', '.cache', 'sentinel-test');
  await build({
    entryPoints: [
      join(root, 'services/supervisor/supervisor-process.ts'),
      join(root, 'services/temporal/temporal-download.ts'),
    ],
    outdir,
    bundle: true,
    splitting: true,
    entryNames: '[name]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  return join(outdir, 'supervisor-process.js');
}
