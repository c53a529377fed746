/** What an agent of the benchmark does: so many turns, each but the last with one call. */
import { randomBytes } from 'node:crypto';

/**
 * `read`: a file of the project. `look`: something outside that counts how often it is done. `append`: a line to a
 * file, which is on the disk when the call answers.
 */
export type Tool = 'read' | 'look' | 'append';

export interface AgentSpec {
  turns: number;
  tool: Tool;
  /** Which file is read, or appended to. */
  file: string;
  /** How much `append` answers. */
  bytes: number;
  /** Until the model answers. */
  delayMs: number;
  /** Names the run on the wire. */
  token: string;
}

/** Everything that the double needs to know stands in the model's name. */
export const modelOf = ({ turns, tool, file, bytes, delayMs }: Omit<AgentSpec, 'token'>): string =>
  ['agent', turns, tool, file, bytes, delayMs].join('_');

/** What `append` writes. */
export const lineOf = (n: number): string => `line ${n}\n`;

/** What it answers: text that no database makes smaller. */
export const answerOf = (bytes: number): string => randomBytes(bytes).toString('base64').slice(0, bytes);

export const promptOf = (token: string): string => `Look around. ${token}`;

/** How often each turn was asked for, and each call was done, of one run. */
export interface Counted {
  turns: number[];
  calls: number[];
}

/** Of what was done at all, how much was done again. */
export const repeated = (counts: readonly number[]): number =>
  counts.reduce((sum, count) => sum + Math.max(0, (count ?? 0) - 1), 0);
