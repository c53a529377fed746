/** The module `sentinel-engine/commands`, as the code of a project gets it. */
export * as z from 'zod';
export { CommandFailure, defineCommand, defineSystem } from './define-command.ts';
export type {
  Caller,
  CommandContext,
  CommandDefinition,
  CommandPermission,
  Json,
  LeaseTerms,
  StatedFailure,
  SystemDefinition,
  Tx,
} from './define-command.ts';
