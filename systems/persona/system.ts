/** Personas: persons and models that own runs. */
import { defineSystem } from '../../operations/system.ts';
import { answeringCommands } from './answering.ts';
import { personaCommands } from './commands.ts';
import { tables } from './tables.ts';

export const persona = defineSystem({
  name: 'persona',
  summary: 'personas: who owns runs, and whom they trust',
  commands: [...personaCommands, ...answeringCommands],
  tables,
  answersFor: 'persona/answers-for',
  verbs: {
    create: { summary: 'make a persona that is a model', command: 'persona/create', args: ['personaId'] },
    limit: { summary: 'limit the runs of a persona', command: 'persona/limit', args: ['personaId'] },
    list: { summary: 'list the personas', command: 'persona/list' },
    show: { summary: 'show a persona', command: 'persona/show', args: ['personaId'] },
    trust: {
      summary: 'let another persona share memories with one',
      command: 'persona/trust',
      args: ['personaId', 'trusts'],
    },
    grant: {
      summary: 'let a model give an answer to what its own runs ask',
      command: 'persona/grant',
      args: ['personaId', 'may'],
    },
    member: {
      summary: 'make a person a member of a group that can be asked',
      command: 'persona/member',
      args: ['groupId', 'personaId'],
    },
    delegate: {
      summary: 'have another person answer for one',
      command: 'persona/delegate',
      args: ['personaId', 'to'],
    },
  },
});
