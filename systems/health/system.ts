/** How the services and the commands are doing. */
import { defineSystem } from '../../operations/system.ts';
import { healthCommands } from './commands.ts';

export const health = defineSystem({
  name: 'health',
  summary: 'how the services and the commands are doing',
  commands: healthCommands,
});
