/**
 * The environment of a step's process: of the worker's own what the run's mode lets through, the step's
 * variables, and the markers by which an orphan is found.
 *
 * - E1 In `full` the worker's variables, without what looks like a secret (language/secrets.ts) and
 *      without settings of Sentinel and of the services it uses. In the other modes a short list of
 *      ordinary ones.
 * - E2 What the definition names in `env`, and what `SENTINEL_STEP_ENV` names, goes in whatever its name.
 * - E3 Beside that it says that nobody is there to be asked (nobody-there.ts).
 */
import type { Mode } from '../../language/permissions.ts';
import { looksSecret } from '../../language/secrets.ts';
import { Failure } from '../failures/failures.ts';
import { SHELL_BOUNDS } from './bounds.ts';
import { withNobodyThere } from './nobody-there.ts';
import { STEP_MARKER, WORKER_MARKER } from './processes.ts';

/** Settings of the worker itself, and git's pointers to another repository. */
const OWN = /^(?:SENTINEL_.*|TEMPORAL_.*|DATABASE_URL|PG[A-Z]+|GIT_.*|NODE_CHANNEL_FD|NODE_UNIQUE_ID)$/;

const ORDINARY =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TERM|COLORTERM|COLUMNS|LINES|TZ|TMPDIR|CI|NO_COLOR|FORCE_COLOR)$/;

/** Whether a variable of the worker reaches the processes of its steps without being named. */
export function isPassedOn(name: string, mode: Mode = 'full'): boolean {
  return mode === 'full' ? !OWN.test(name) && !looksSecret(name) : ORDINARY.test(name);
}

export function childEnvironment(
  own: NodeJS.ProcessEnv,
  step: Readonly<Record<string, string>>,
  { mode, markers }: { mode: Mode | undefined; markers: Readonly<Record<string, string>> },
): Record<string, string> {
  const named = new Set((own['SENTINEL_STEP_ENV'] ?? '').split(/[\s,]+/).filter(Boolean));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && (named.has(name) || isPassedOn(name, mode))) environment[name] = value;
  }
  return { ...withNobodyThere(environment, named), ...step, ...markers };
}

export const markersOf = (markers: { step: string; worker: string }): Record<string, string> => ({
  [STEP_MARKER]: markers.step,
  [WORKER_MARKER]: markers.worker,
});

/** The system refuses large arguments with a bare `E2BIG`, and takes no NUL; this says which one, and what to do. */
export function checkSizes(args: readonly string[], environment: Readonly<Record<string, string>>): void {
  const sizes = [
    ...args.map((value, index) => ({
      name: index === 0 ? 'the command' : `args.${index - 1}`,
      bytes: Buffer.byteLength(value),
    })),
    ...Object.entries(environment).map(([name, value]) => ({
      name: `variable ${name}`,
      bytes: Buffer.byteLength(value) + name.length,
    })),
  ];
  const parts = [...args, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
  const cut = sizes[parts.findIndex((part) => part.includes('\0'))];
  if (cut !== undefined)
    throw new Failure(
      'SHELL_NOT_STARTED',
      `${cut.name} holds a NUL character, at which the system would cut it off; leave it out, or pass the value by stdin or in a file`,
    );
  const largest = sizes.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (largest.bytes <= SHELL_BOUNDS.argumentBytesMax && total <= SHELL_BOUNDS.argumentsBytesMax) return;
  const finding =
    largest.bytes > SHELL_BOUNDS.argumentBytesMax
      ? `${largest.name} has ${largest.bytes} bytes, at most ${SHELL_BOUNDS.argumentBytesMax} fit`
      : `arguments and variables have ${total} bytes together (the largest: ${largest.name}), at most ${SHELL_BOUNDS.argumentsBytesMax} fit`;
  throw new Failure('SHELL_ARGUMENT_TOO_LARGE', `${finding}; pass the value by stdin or write it to a file first`, {
    details: { name: largest.name, bytes: largest.bytes },
  });
}
