/** Questions to models, what they are told, and their tools. */
import { defineSystem } from '../../operations/system.ts';
import { toolCommands } from './search-tools.ts';
import { aiCommands } from './commands.ts';
import { ragCommands } from './context.ts';

export const models = defineSystem({
  name: 'models',
  summary: 'questions to models, what they are told, and their tools',
  commands: [...toolCommands, ...aiCommands, ...ragCommands],
});
