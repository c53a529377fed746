/** The name of a task becomes the name of a folder. */
import * as z from 'zod';

export const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be letters, digits, ".", "_" or "-", such as T003');

export const evidenceOf = (task: string): string => `.claude/sentinel/${task}`;
