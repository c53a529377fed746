/** Models of a test that has GGUF files: by their names, at `local/`, and one of them makes the vectors. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Models } from '../../../world/models/open-models.ts';
import { NO_SETTINGS } from '../../../world/models/resolve/settings.ts';
import { root } from '../../project/tree.ts';

export interface LocalOfTest {
  models: Models;
  /** Another model of the same files makes the vectors. */
  embeddingBy(name: string): Models;
  close(): Promise<void>;
}

export function openLocal(files: { [name: string]: string }, embedding: string): LocalOfTest {
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-vectors-'));
  const opened: Models[] = [];
  const open = (name: string): Models => {
    const models = new Models({
      settings: { ...NO_SETTINGS, embedding: `local/${name}` },
      env: {},
      registry: join(folder, 'models.json'),
      program: {
        path: join(root, 'world', 'models', 'local', 'model-process.ts'),
        execArgv: ['--import', 'jiti/register'],
      },
      project: folder,
    });
    opened.push(models);
    return models;
  };
  const models = open(embedding);
  for (const [name, path] of Object.entries(files)) models.local.add(name, path);
  return {
    models,
    embeddingBy: open,
    async close() {
      await Promise.all(opened.map((one) => one.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
