/** Engines that do the same work, each in processes of its own, and told in turns: what disturbs one disturbs all. */
import type { Together } from './lanes.ts';
import { informed, median, shown, type Row } from './report.ts';
import type { Lanes } from './work.ts';

export interface Engine<Order> {
  name: string;
  together: (order: Order, lanes: Omit<Lanes, 'work'>) => Promise<Together & { workflowId?: string }>;
  end: () => Promise<void>;
}

/** A value a column, of each round. */
export type Rounds = Map<string, number[][]>;

export interface Found {
  rounds: Rounds;
  /** Engines that could not be measured, and why. */
  failed: Map<string, string>;
}

/** Every other round begins with the last engine. */
export async function inTurns<Order>(
  engines: readonly Engine<Order>[],
  { rounds, failed }: { rounds: number; failed: Map<string, string> },
  measure: (engine: Engine<Order>) => Promise<number[]>,
): Promise<Found> {
  const found: Found = { rounds: new Map(), failed };
  for (let round = 0; round < rounds; round += 1) {
    for (const engine of round % 2 === 0 ? engines : engines.toReversed()) {
      if (found.failed.has(engine.name)) continue;
      try {
        const values = await measure(engine);
        found.rounds.set(engine.name, [...(found.rounds.get(engine.name) ?? []), values]);
      } catch (error) {
        found.failed.set(engine.name, messageOf(error));
      }
    }
  }
  return found;
}

const columnOf = (rounds: readonly number[][], column: number): number[] =>
  rounds.map((values) => values[column] ?? Number.NaN);

export const middle = ({ rounds }: Found, name: string, column: number): number =>
  median(columnOf(rounds.get(name) ?? [], column));

/** Of one engine's value that of another, in the same round; with the least and the most of all rounds. */
export function ratio(
  { rounds }: Found,
  column: number,
  [one, other]: readonly [string, string],
): { value: number; note: string } {
  const others = columnOf(rounds.get(other) ?? [], column);
  const ratios = columnOf(rounds.get(one) ?? [], column).map((value, round) => value / (others[round] ?? Number.NaN));
  const note = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${ratios.length} rounds`;
  return { value: median(ratios), note };
}

export interface Line {
  name: string;
  cells: readonly string[];
  note?: string;
}

/** The middle of the rounds, and from the least to the most of them. */
export function lineOf(found: Found, name: string, columns: number): Line {
  const values = Array.from({ length: columns }, (_, column) => columnOf(found.rounds.get(name) ?? [], column));
  const ranges = values.map((of) => `${shown(Math.min(...of))}–${shown(Math.max(...of))}`);
  return { name, cells: values.map((of) => shown(median(of))), note: `rounds: ${ranges.join(', ')}` };
}

/** Opens one after the other; one that cannot be opened is missing, and why is said. */
export async function opened<Order>(
  openers: { readonly [name: string]: () => Promise<Engine<Order>> },
  failed: Map<string, string>,
): Promise<Engine<Order>[]> {
  const engines: Engine<Order>[] = [];
  for (const [name, open] of Object.entries(openers)) {
    try {
      engines.push(await open());
    } catch (error) {
      failed.set(name, messageOf(error));
    }
  }
  return engines;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Rows whose cells stand below the titles of their columns. */
export function cellRows(title: string, columns: readonly string[], lines: readonly Line[], note: string): Row[] {
  const all = [columns, ...lines.map(({ cells }) => cells)];
  const widths = columns.map((_, column) => Math.max(...all.map((cells) => (cells[column] ?? '').length)));
  const joined = (cells: readonly string[]): string =>
    widths.map((width, column) => (cells[column] ?? '').padStart(width)).join(' | ');
  return [
    informed(title, joined(columns), note),
    ...lines.map(({ name, cells, note: own }) => informed(`${title}, ${name}`, joined(cells), own)),
  ];
}
