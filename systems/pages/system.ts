/** Pictures of pages. */
import { defineSystem } from '../../operations/system.ts';
import { screenshotCommands } from './commands.ts';

export const pages = defineSystem({
  name: 'pages',
  summary: 'pictures of pages',
  commands: screenshotCommands,
});
