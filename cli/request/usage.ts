/** Mistakes in what was typed: one sentence that says what to do instead. */
import { Option } from 'commander';
import { durationIn, DURATION_WORDS } from '../../language/references/times.ts';
import { ClientError } from '../../runs/client-error.ts';

export function usage(message: string): ClientError {
  return new ClientError('USAGE', message);
}

export function wholeNumber(option: string, bounds: { min: number; max: number }): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= bounds.min && number <= bounds.max) return number;
    throw usage(`${option} is "${text}"; write a whole number from ${bounds.min} to ${bounds.max}.`);
  };
}

/** A length of time, in milliseconds. */
export function lengthOfTime(option: string, bounds: { min: number; max: number }): (text: string) => number {
  return (text) => {
    const ms = durationIn(text);
    if (ms !== undefined && ms >= bounds.min && ms <= bounds.max) return Math.round(ms);
    throw usage(`${option} is "${text}"; write ${DURATION_WORDS}, from ${bounds.min} to ${bounds.max} ms.`);
  };
}

export function oneOf<Choice extends string>(option: string, choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((known) => known === text);
    if (choice === undefined) throw usage(`${option} is "${text}"; write one of ${choices.join(', ')}.`);
    return choice;
  };
}

/** What a run is given: the same option wherever one is started. */
export const inputOption = (): Option =>
  repeatable('--input <name=value>', 'an input; a value that is not JSON is text (repeatable)');

/** An option that may be given several times. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((given: string, all: readonly string[]) => [...all, given])
    .default([], 'none');
}
