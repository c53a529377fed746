/** Values too large for the environment reach a shell line as files; they go when the step ends. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Calls `run` with the variables that name the files: `SENTINEL_1_FILE` for the value of `SENTINEL_1`. */
export async function withValueFiles<Result>(
  values: { [name: string]: string } | undefined,
  run: (env: { [name: string]: string }, folder?: string) => Promise<Result>,
): Promise<Result> {
  if (values === undefined) return run({});
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-values-'));
  try {
    const env: { [name: string]: string } = {};
    for (const [name, value] of Object.entries(values)) {
      const path = join(folder, name);
      await writeFile(path, value, { mode: 0o600 });
      env[`${name}_FILE`] = path;
    }
    return await run(env, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
