/** Runs that start, look at, wait for, edit, control and speak to runs. */
import { defineSystem } from '../../operations/system.ts';
import { sentinelCommands } from './commands.ts';
import { controlCommands } from './control.ts';
import { savingCommands } from './saving.ts';
import { speakingCommands } from './speaking.ts';
import { standingCommands } from './standing.ts';
import { stepCommands } from './steps.ts';

export const runs = defineSystem({
  name: 'runs',
  summary: 'runs that start, look at, wait for, edit, control and speak to runs',
  commands: [
    ...sentinelCommands,
    ...standingCommands,
    ...controlCommands,
    ...speakingCommands,
    ...stepCommands,
    ...savingCommands,
  ],
});
