/** Work trees and copies of a project in which runs work. */
import { defineSystem } from '../../operations/system.ts';
import { workspaceCommands } from './commands.ts';

export const workspaces = defineSystem({
  name: 'workspaces',
  summary: 'work trees and copies of the project in which runs work',
  commands: workspaceCommands,
  verbs: {
    list: { summary: 'list the workspaces of the project', command: 'workspace/list' },
    merge: {
      summary: 'merge branches into one that is named (--into)',
      command: 'workspace/merge',
      args: ['branches'],
    },
    remove: { summary: 'remove a workspace', command: 'workspace/remove', args: ['workspace'] },
  },
});
