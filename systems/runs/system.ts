/** Runs that start, look at, edit and control runs. */
import { defineSystem } from '../../operations/system.ts';
import { sentinelCommands } from './commands.ts';
import { controlCommands } from './control.ts';
import { stepCommands } from './steps.ts';
import { savingCommands } from './saving.ts';

export const runs = defineSystem({
  name: 'runs',
  summary: 'runs that start, look at, edit and control runs',
  commands: [...sentinelCommands, ...controlCommands, ...stepCommands, ...savingCommands],
});
