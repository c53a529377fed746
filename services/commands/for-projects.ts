/** The module `sentinel-engine/commands`, as the code of a project gets it. */
export * as z from 'zod';
export { CommandFailure, defineCommand } from './define-command.ts';
export type { CommandContext, CommandDefinition, CommandPermission } from './define-command.ts';
