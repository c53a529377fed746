/** Definitions that are saved under names: whose they are, how their runs went, and how they travel. */
import * as z from 'zod';
import { isJsonObject } from '../../language/json.ts';
import { defineCommand } from '../../operations/command.ts';
import { filesWritten } from '../../operations/files/whole-file.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { defineSystem } from '../../operations/system.ts';
import { deploy, DeployParams, DeployResult } from './deploy.ts';
import { ExportParams, ExportResult, exportSentinel } from './export.ts';
import { ImportParams, ImportResult, importSentinel, shownImport } from './import.ts';
import { load, LoadParams, LoadResult, Name } from './load.ts';
import { save, SaveParams, SaveResult } from './save.ts';

const notFound = { title: 'There is no saved sentinel of that name', retryable: false };

export const saved = defineSystem({
  name: 'saved',
  summary: 'definitions that are saved under names, with their owners and how their runs went',
  commands: [
    defineCommand({
      name: 'sentinel/save',
      description: 'Saves a definition under its name, for the persona that saves it, with tags.',
      permission: 'write',
      speed: 'quick',
      textField: 'name',
      otherRuns: 'defines',
      doors: ['step', 'model', 'person'],
      // Their references belong to the run that will read them.
      programParams: ['definition'],
      params: SaveParams,
      result: SaveResult,
      run: save,
      predict: ({ definition, name }) => ({
        text: `saves ${name === undefined ? 'a definition under its name' : `a definition as ${simulatedText(name)}`}`,
        source: 'assumed',
        result: { name: simulatedText(name ?? (isJsonObject(definition) ? definition['name'] : undefined)) },
      }),
    }),
    defineCommand({
      name: 'sentinel/load',
      description:
        'Lists the saved definitions, or gives the one of a name or an id, with the versions of its name; null if there is none.',
      permission: 'read',
      speed: 'quick',
      params: LoadParams,
      result: LoadResult,
      run: load,
    }),
    defineCommand({
      name: 'sentinel/delete',
      description: 'Takes the name from a saved definition. Runs, schedules and triggers keep theirs.',
      permission: 'delete',
      speed: 'quick',
      // A name is moved by a person, or by what a person wrote.
      doors: ['step', 'person'],
      params: z.strictObject({ name: Name }),
      result: z.strictObject({ name: z.string(), deleted: z.boolean() }),
      run: async ({ name }, { store, session, run }) => ({
        name,
        deleted: await store.definitions.forget(name, run, session),
      }),
    }),
    defineCommand({
      name: 'sentinel/export',
      description: 'Writes a saved sentinel with its versions, and what it names, into a signed file of the project.',
      permission: 'write',
      speed: 'long',
      textField: 'path',
      doors: ['step', 'person'],
      failures: { SENTINEL_NOT_FOUND: notFound },
      params: ExportParams,
      result: ExportResult,
      run: exportSentinel,
      writes: ({ output }, context) => filesWritten({ path: output }, context),
      predict: ({ sentinelId, output }) => ({
        text: `writes ${simulatedText(sentinelId)} into ${simulatedText(output)}`,
        source: 'assumed',
        result: null,
      }),
    }),
    defineCommand({
      name: 'sentinel/import',
      description: 'Saves for a persona what a signed file of the project holds, whole or not at all.',
      permission: 'write',
      speed: 'long',
      textField: 'name',
      doors: ['step', 'person'],
      failures: {
        SENTINEL_NAME_TAKEN: { title: 'A person has saved that name for somebody else', retryable: false },
      },
      params: ImportParams,
      result: ImportResult,
      run: importSentinel,
      otherRuns: 'defines',
      resolves: true,
      resolve: shownImport,
      predict: ({ file, personaId }) => ({
        text: `imports ${simulatedText(file)}${personaId === undefined ? '' : ` for ${simulatedText(personaId)}`}`,
        source: 'assumed',
        result: null,
      }),
    }),
    defineCommand({
      name: 'sentinel/deploy',
      description: 'Has a saved sentinel, with what it names, found by its name in another project.',
      permission: 'write',
      speed: 'quick',
      textField: 'name',
      // What is done to another project is a person's to say.
      doors: ['person'],
      failures: { SENTINEL_NOT_FOUND: notFound },
      params: DeployParams,
      result: DeployResult,
      run: deploy,
    }),
  ],
});
