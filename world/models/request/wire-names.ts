/** The tools of a request on the wire. A model may answer in either spelling. */
import { WIRE_NAME_LENGTH_MAX, wireName } from '../../../language/models/tool-names.ts';
import type { Tool } from '../port/turn.ts';

export interface WireNames {
  /** The command that a model means; what it wrote where it means none that it was given. */
  ours(written: string): string;
  /** Whether it names a tool that the model was given. */
  offers(written: string): boolean;
  /** What goes onto the wire, also for a call of a tool that is not offered any more. */
  wire(command: string): string;
}

export function wireNames(tools: readonly Tool[]): WireNames {
  const commands = new Map(tools.flatMap(({ name }) => [[wireName(name), name] as const, [name, name] as const]));
  return {
    ours: (written) => commands.get(written) ?? written,
    offers: (written) => commands.has(written),
    wire: (command) =>
      wireName(command)
        .replaceAll(/[^A-Za-z0-9_-]/g, '_')
        .slice(0, WIRE_NAME_LENGTH_MAX) || '_',
  };
}
