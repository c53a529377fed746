/** Records in collections. */
import { defineSystem } from '../../operations/system.ts';
import { dataCommands } from './commands.ts';
import { indexes } from './indexes.ts';

export const data = defineSystem({
  name: 'data',
  summary: 'records in collections',
  commands: dataCommands,
  prepares: indexes,
});
