/**
 * Tools on the wire. Providers take letters, digits, `_` and `-`, at most 64: a command's name has `/`
 * written as `_` there. A model may answer in either spelling.
 */
import type { Tool } from '../port/turn.ts';

export const WIRE_NAME_LENGTH_MAX = 64;

export const wireName = (command: string): string => command.replaceAll('/', '_');

/** Why a command cannot be a tool, as sentences; empty when all can. */
export function toolNameProblems(commands: readonly string[]): string[] {
  const taken = new Map<string, string>();
  return commands.flatMap((command) => {
    const name = wireName(command);
    const other = taken.get(name);
    taken.set(name, command);
    if (other !== undefined)
      return other === command
        ? []
        : [`commands "${other}" and "${command}" are both the tool "${name}" for a model; rename one of them`];
    if (name.length > WIRE_NAME_LENGTH_MAX)
      return [
        `command "${command}" has ${name.length} characters, and models take tools of at most ${WIRE_NAME_LENGTH_MAX}; give it a shorter name`,
      ];
    if (!/^[A-Za-z0-9_-]+$/.test(name))
      return [`command "${command}" holds characters that no tool's name may have; use letters, digits, _ - and /`];
    return [];
  });
}

export interface WireNames {
  /** The command that a model means; what it wrote where it means none that it was given. */
  ours(written: string): string;
  /** What goes onto the wire, also for a call of a tool that is not offered any more. */
  wire(command: string): string;
}

export function wireNames(tools: readonly Tool[]): WireNames {
  const commands = new Map(tools.flatMap(({ name }) => [[wireName(name), name] as const, [name, name] as const]));
  return {
    ours: (written) => commands.get(written) ?? written,
    wire: (command) =>
      wireName(command)
        .replaceAll(/[^A-Za-z0-9_-]/g, '_')
        .slice(0, WIRE_NAME_LENGTH_MAX) || '_',
  };
}
