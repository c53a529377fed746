/** Personas: persons and models that own runs. */
import { defineSystem } from '../../operations/system.ts';
import { personaCommands } from './commands.ts';
import { tables } from './tables.ts';

export const persona = defineSystem({
  name: 'persona',
  summary: 'personas: who owns runs, and whom they trust',
  commands: personaCommands,
  tables,
  verbs: {
    create: { summary: 'make a persona that is a model', command: 'persona/create', args: ['personaId'] },
    list: { summary: 'list the personas', command: 'persona/list' },
    show: { summary: 'show a persona', command: 'persona/show', args: ['personaId'] },
    trust: {
      summary: 'let another persona share memories with one',
      command: 'persona/trust',
      args: ['personaId', 'trusts'],
    },
  },
});
