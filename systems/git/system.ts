/** The repository of the project. */
import { defineSystem } from '../../operations/system.ts';
import { gitCommands } from './commands.ts';

export const git = defineSystem({
  name: 'git',
  summary: 'the repository of the project',
  commands: gitCommands,
});
