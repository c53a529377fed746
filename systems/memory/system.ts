/** What personas remember. */
import { defineSystem } from '../../operations/system.ts';
import { memoryCommands } from './commands.ts';
import { following } from './follow.ts';
import { embedding } from './meanings.ts';
import { tables } from './tables.ts';

export const memory = defineSystem({
  name: 'memory',
  summary: 'what personas remember: failures, escalations, what has served, and what is stored',
  commands: [...memoryCommands, following, embedding],
  tables,
  background: { embed: { everyMs: 2_000, command: 'memory/embed', needs: 'embedding' } },
  followers: { ended: { event: 'sentinel:finished:*', command: 'memory/follow' } },
  verbs: {
    recall: {
      summary: 'recall what a persona remembers about a question',
      command: 'memory/recall',
      args: ['query'],
      starts: { definition: ['content', 'definition'], id: ['content', 'id'] },
    },
    store: { summary: 'remember something', command: 'memory/store', args: ['content'] },
    list: { summary: 'list what a persona remembers', command: 'memory/list' },
    share: { summary: 'give copies of memories to a persona that trusts one', command: 'memory/share', args: ['to'] },
    forget: { summary: 'forget memories', command: 'memory/forget' },
  },
});
