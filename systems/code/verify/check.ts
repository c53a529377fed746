/** A check of a project: what is run, and how what it prints is read. */
import type { JsonObject } from '../../../language/json.ts';
import type { Parsed, Printed } from './parse/finding.ts';

export const CHECK_NAMES = [
  'typescript',
  'vitest',
  'jest',
  'node:test',
  'npm test',
  'pytest',
  'unittest',
  'cargo',
  'go',
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];

export interface Check {
  name: CheckName;
  /** It has tests, so a test file can be named. */
  hasTests: boolean;
  /** A program with its arguments; a line for a shell without `args`. */
  command: string;
  args?: readonly string[];
  /** What stands for the line where it is long. */
  called?: string;
  env?: Readonly<Record<string, string>>;
  /** What the program reads in the project to know what to run. */
  reads?: JsonObject;
  /** Why it cannot run, with the remedy. */
  missing?: string;
  parse(printed: Printed): Parsed;
}
