/**
 * The environment of a step's process: the worker's own, minus what is the worker's alone, plus
 * the step's variables, plus the markers by which an orphan is found.
 *
 * Left out are credentials of the services Sentinel itself uses, every variable whose name ends in
 * a word for a secret, every `SENTINEL_…` variable, and git's pointers to another repository. A
 * step that needs one of them names it in its `env`.
 */
import { Failure } from '../../failures/failures.ts';
import { SHELL_BOUNDS } from './bounds.ts';
import { STEP_MARKER, WORKER_MARKER } from './processes.ts';

const WITHHELD = new Set(['DATABASE_URL', 'PGPASSWORD', 'GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']);
const SECRET = /(_|^)(TOKEN|SECRET|PASSWORD|API_KEY|ACCESS_KEY|PRIVATE_KEY)$/i;

export function isWithheld(name: string): boolean {
  return WITHHELD.has(name) || name.startsWith('SENTINEL_') || SECRET.test(name);
}

export function childEnvironment(
  own: NodeJS.ProcessEnv,
  step: Readonly<Record<string, string>>,
  markers: { step: string; worker: string },
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && !isWithheld(name)) environment[name] = value;
  }
  return { ...environment, ...step, [STEP_MARKER]: markers.step, [WORKER_MARKER]: markers.worker };
}

/** The system refuses large arguments with a bare `E2BIG`; this says which one, and what to do. */
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
