/**
 * Commands as tools on the wire. Providers take letters, digits, `_` and `-`, at most 64: a command's name has
 * `/` written as `_` there.
 */
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
