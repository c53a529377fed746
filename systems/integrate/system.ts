/** Whether a task is really done: its tests, run before and after by us, and what was changed to make them pass. */
import { defineSystem } from '../../operations/system.ts';
import { agentCommands } from './agent-commands.ts';
import { beginCommands } from './begin.ts';
import { judgeCommands } from './judge-commands.ts';
import { Settings } from './settings.ts';
import { testCommands } from './test-command.ts';

export const integrate = defineSystem({
  name: 'integrate',
  summary: 'whether a task is done: tests are run and fixed, what was changed is judged, and the evidence is kept',
  commands: [...beginCommands, ...testCommands, ...agentCommands, ...judgeCommands],
  settings: Settings,
  run: { definition: 'integrate-task', args: ['what', 'task'] },
});
