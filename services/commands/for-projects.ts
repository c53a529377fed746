/** The module `sentinel-engine/commands`, as the code of a project gets it. */
export * as z from 'zod';
export { CommandFailure, defineCommand, defineSystem } from './define-command.ts';
export type {
  Abortable,
  Caller,
  CommandContext,
  CommandDefinition,
  CommandPermission,
  Json,
  LeaseTerms,
  ModelAnswer,
  ModelAsked,
  ProcessEnd,
  RunAnswer,
  RunAwaited,
  RunQuestion,
  Runs,
  RunStanding,
  RunStart,
  RunTold,
  Spawned,
  StatedFailure,
  StepChange,
  SystemDefinition,
  Tx,
} from './define-command.ts';
