/** What a command of the engine states for whoever calls it from outside of a run. */
import { builtInOutline, type CommandOutline } from '../../systems/catalogue.ts';

/** Null: it is none of the engine's. */
export const outlineOf = (command: string): CommandOutline | null =>
  builtInOutline()
    .flatMap(({ commands }) => commands)
    .find(({ name }) => name === command) ?? null;

/** Whether a worker alone performs it: it has the connections to the servers of tools, and is what some commands tell of. */
export const isOfWorker = (command: string): boolean =>
  command.split('/')[0] === 'mcp' || outlineOf(command)?.ofWorker === true;
