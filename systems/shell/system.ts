/** Command lines, and processes in the background. */
import { defineSystem } from '../../operations/system.ts';
import { shellCommands } from './commands.ts';

export const shell = defineSystem({
  name: 'shell',
  summary: 'command lines, and processes in the background',
  commands: shellCommands,
});
