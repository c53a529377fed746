/** Asks a person whether the code of a project may run, with what it is, before a verb that acts runs it. */
import { createInterface } from 'node:readline/promises';
import { refuseUntrusted, isTrusted, changesOf, trustCode } from '../../services/trust/trusted-code.ts';
import type { ProjectCode } from '../../services/trust/project-code.ts';
import { ClientError } from '../../runs/client-error.ts';
import { isWithinStep } from '../../world/processes/step-mark.ts';
import type { Output } from '../output/output.ts';

const shownMax = 40;

/** Returns where the code is trusted, since before or by the answer; throws otherwise. */
export async function askTrust(code: ProjectCode, output: Output): Promise<void> {
  if (isTrusted(code)) return;
  if (!canAsk(output) || (await isWithinStep())) return refuseUntrusted(code);
  for (const line of codeLines(code)) output.note(line);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question('Trust and run it? [y/N] ').finally(() => asking.close());
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw new ClientError('SETTINGS', `${code.path} is not trusted, so nothing was started.`);
  trustCode(code);
}

export const canAsk = ({ json }: Output): boolean => !json && process.stdin.isTTY && process.stderr.isTTY;

/** What would be run: the project's own files by name, packages by their number, and what has changed. */
export function codeLines(code: ProjectCode): string[] {
  const files = [...code.files.values()];
  const own = files.filter(({ name }) => !isOfPackage(name));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const changes = changesOf(code);
  return [
    `${code.path} is code, which runs as you: in this process, and in the worker.`,
    `  digest ${code.digest}, of ${files.length} files (${Math.ceil(bytes / 1024)} KiB)`,
    ...shown(own.map(({ name }) => `  ${name}`)),
    ...(own.length < files.length ? [`  and ${files.length - own.length} files of packages`] : []),
    ...(changes === null
      ? ['  never trusted before']
      : [
          '  since you trusted it:',
          ...shown([
            ...changes.added.map((name) => `    + ${name}`),
            ...changes.changed.map((name) => `    ~ ${name}`),
            ...changes.gone.map((name) => `    - ${name}`),
          ]),
        ]),
  ];
}

const isOfPackage = (name: string): boolean => name.split('/').includes('node_modules');

const shown = (lines: string[]): string[] =>
  lines.length <= shownMax ? lines : [...lines.slice(0, shownMax), `  … and ${lines.length - shownMax} more`];
