/** A model that is made here in a second, as a folder with safetensors: it knows nothing, and learns an answer in seconds. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ownRoot } from '../../../services/home/package-root.ts';
import { trainerVariables, type TrainerEnvironment } from '../../../services/trainer/environment.ts';

export function makeTinyModel(folder: string, environment: TrainerEnvironment): void {
  const script = `import sys; sys.path.insert(0, ${JSON.stringify(join(ownRoot, 'trainer', 'tests'))})
from conftest import make_model
make_model(sys.argv[1])`;
  const { status, stderr } = spawnSync(environment.python, ['-c', script, folder], {
    encoding: 'utf8',
    env: trainerVariables(environment, process.env),
  });
  if (status !== 0) throw new Error(`the tiny model could not be made: ${stderr.slice(-2000)}`);
}
