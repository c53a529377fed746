// What this project adds to Sentinel: commands for its definitions, and the models they ask.
// Verbs that read a definition load this file; when it has changed, the next run starts the worker anew.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailure, defineCommand, z } from 'sentinel-engine/commands';

export default {
  commands: [
    // A step calls it so: { "type": "command", "command": "project/version", "outputTo": "version" }
    defineCommand({
      name: 'project/version',
      description: "Reads the project's name and version from its package.json.",
      permission: 'read',
      params: z.strictObject({}),
      result: z.object({ name: z.string(), version: z.string() }),
      textField: 'version',
      run: async (_params, { project }) => {
        const text = await readFile(join(project, 'package.json'), 'utf8').catch(() => null);
        if (text === null) throw new CommandFailure('NO_PACKAGE_JSON', `there is no package.json in ${project}`);
        const { name = '', version = '0.0.0' } = JSON.parse(text) as { name?: string; version?: string };
        return { name, version };
      },
    }),
  ],
};
