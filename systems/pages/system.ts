/** Pictures of pages. */
import { defineSystem } from '../../operations/system.ts';
import { screenshotCommands } from './commands.ts';
import { Settings } from './settings.ts';

export const pages = defineSystem({
  name: 'pages',
  summary: 'pictures of pages',
  settings: Settings,
  commands: screenshotCommands,
});
