/** What an agent of the benchmark does: so many turns, each but the last with one call. */

/** `read`: a file of the project. `look`: something outside that counts how often it is done. */
export type Tool = 'read' | 'look';

export interface AgentSpec {
  turns: number;
  tool: Tool;
  /** Which file `read` reads. */
  file: string;
  /** Until the model answers. */
  delayMs: number;
  /** Names the run on the wire. */
  token: string;
}

/** Everything that the double needs to know stands in the model's name. */
export const modelOf = ({ turns, tool, file, delayMs }: Omit<AgentSpec, 'token'>): string =>
  ['agent', turns, tool, file, delayMs].join('_');

export const promptOf = (token: string): string => `Look around. ${token}`;

/** How often each turn was asked for, and each call was done, of one run. */
export interface Counted {
  turns: number[];
  calls: number[];
}

/** Of what was done at all, how much was done again. */
export const repeated = (counts: readonly number[]): number =>
  counts.reduce((sum, count) => sum + Math.max(0, (count ?? 0) - 1), 0);
