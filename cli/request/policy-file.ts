/** The file of a policy: a list of rules. What is wrong with it is said rule by rule, before anything starts. */
import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Policy } from '../../language/policy/policy.ts';
import { givenPolicy } from '../../runs/policies.ts';
import { givenJson } from './given-json.ts';
import { usage } from './usage.ts';

export const policyOption = (what = 'rules about the actions of the run'): Option =>
  new Option('--policy <file>', `${what}, as a JSON list: allow, ask or refuse`);

export function policyIn(file: string): Policy {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(
      `--policy ${file} cannot be read (${error instanceof Error ? error.message : String(error)}); give a file that holds a list of rules.`,
    );
  }
  return givenPolicy(givenJson(`--policy ${file}`, text, 'a policy is a list of rules'), `--policy ${file}`);
}

/** None where no file is named. */
export const policyGiven = (file: string | undefined): { policy?: Policy } =>
  file === undefined ? {} : { policy: policyIn(file) };
