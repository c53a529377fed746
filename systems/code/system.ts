/** Files of the project: reading, editing, searching, checks and undo. */
import { defineSystem } from '../../operations/system.ts';
import { codeCommands } from './files.ts';
import { editCommands } from './edit.ts';
import { searchCommands } from './search.ts';
import { verifyCommands } from './verify.ts';
import { diagnosticsCommands } from './diagnostics.ts';
import { undoCommands } from './undo.ts';

export const code = defineSystem({
  name: 'code',
  summary: 'files of the project: reading, editing, searching, checks and undo',
  commands: [
    ...codeCommands,
    ...editCommands,
    ...searchCommands,
    ...verifyCommands,
    ...diagnosticsCommands,
    ...undoCommands,
  ],
});
