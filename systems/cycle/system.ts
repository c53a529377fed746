/** A change to a repository that is as a person approved it, or is not there. */
import * as z from 'zod';
import { defineSystem } from '../../operations/system.ts';
import { changesetCommands } from './changeset-commands.ts';
import { contextCommands, Settings } from './context-commands.ts';
import { cycleCommands } from './cycle-commands.ts';
import { lookingCommands } from './looking-commands.ts';
import { STATES } from './machine/states.ts';
import { tables } from './tables.ts';

export const cycle = defineSystem({
  name: 'cycle',
  summary: 'changes to a repository, planned by a model, approved by a person, applied as a whole',
  commands: [...cycleCommands, ...lookingCommands, ...contextCommands, ...changesetCommands],
  tables,
  settings: Settings,
  events: { 'fsm:transition': z.strictObject({ from: z.enum(STATES), to: z.enum(STATES) }) },
  run: { definition: 'cognitive-cycle', args: ['goal'] },
  verbs: {
    status: { summary: 'how the cycle of the repository stands', command: 'cycle/status' },
    list: { summary: 'list the cycles of the repository', command: 'cycle/list' },
    show: { summary: 'show one cycle', command: 'cycle/show', args: ['cycle'] },
    history: { summary: 'list the transitions of the repository', command: 'cycle/history' },
    controls: { summary: 'list what can be done with the cycle', command: 'cycle/controls' },
    press: { summary: 'press one of the controls', command: 'cycle/press', args: ['id'] },
    reset: { summary: 'bring the cycle home', command: 'cycle/reset' },
    recover: { summary: 'end what an interrupted changeset has left', command: 'changeset/recover' },
  },
});
