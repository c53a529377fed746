/** What to write where a text stands for a step or for a list of steps. */
import { findCommand, type Catalogue } from '../../catalogue.ts';
import { isReferredLater } from '../../references/written-references.ts';
import { commandNamed } from '../rewrites/names.ts';

export interface Remedy {
  words: string;
  fix?: string;
}

const shownMax = 80;

/** A line of shell, or a command of the catalogue. One word may as well be the name of a step, so it is an example only. */
export function stepForText(
  text: string,
  catalogue: Catalogue,
  around: (step: string) => string = (step) => step,
): Remedy {
  const line = text.trim();
  const type = findCommand(catalogue, commandNamed(line)) === undefined ? 'shell' : 'command';
  const step = around(`{"type": "${type}", "command": ${JSON.stringify(line.slice(0, shownMax))}}`);
  if (type === 'shell' && !/\s/.test(line)) return { words: `write steps out, such as ${step}` };
  return { words: `write ${step}`, ...(line.length > shownMax ? {} : { fix: `write ${step}` }) };
}

export function stepsForText(text: string, catalogue: Catalogue): Remedy {
  if (!isReferredLater(text.trim(), () => true)) return stepForText(text, catalogue, (step) => `[${step}]`);
  const fix = `write [{"type": "sentinel", "definition": ${JSON.stringify(text.trim())}}]`;
  return {
    words: 'steps are written out, and those that a variable holds are the "definition" of a step of type "sentinel"',
    ...(text.length > shownMax ? {} : { fix }),
  };
}
