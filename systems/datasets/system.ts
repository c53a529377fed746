/** Data sets for training: rows in parts for training, validation and the gate. */
import { defineCommand } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { defineSystem } from '../../operations/system.ts';
import { create, CreateParams } from './create.ts';
import { Settings } from './settings.ts';
import { Archive, list, Listed, ListParams } from './list.ts';

export const datasets = defineSystem({
  name: 'datasets',
  summary: 'data sets for training, in parts for training, validation and the gate',
  settings: Settings,
  commands: [
    defineCommand({
      name: 'ai/dataset/create',
      description: 'Makes a data set for training from records, a file, given rows or conversations of runs.',
      permission: 'write',
      speed: 'long',
      timeoutMs: 3_600_000,
      failures: {
        DATASET_EMPTY: { title: 'A data set would have no rows to train on', retryable: false },
        DATASET_ROW_INVALID: { title: 'A row is none of a data set', retryable: false },
        DATASET_SECRET: { title: 'A row holds a secret', retryable: false },
        DATASET_EXISTS: { title: 'Another data set has that name', retryable: false },
      },
      params: CreateParams,
      needs: [['source'], ['file'], ['rows'], ['samples']],
      result: Archive,
      run: create,
      predict: ({ outputPath = 'datasets' }) => ({
        text: `makes a data set in ${simulatedText(outputPath)}`,
        source: 'assumed',
        result: null,
      }),
    }),
    defineCommand({
      name: 'ai/dataset/list',
      description: 'Lists the data sets in a folder, the newest first.',
      permission: 'read',
      speed: 'quick',
      params: ListParams,
      result: Listed,
      run: list,
    }),
  ],
});
