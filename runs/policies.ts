/**
 * The policies that a run begins with, besides those that it inherits: its project's, and what it is started with. Each
 * holds once, however often a fork or a start says it again.
 */
import { canonicalText } from '../language/canonical.ts';
import { policiesMax } from '../language/limits.ts';
import { readPolicy, type Policy } from '../language/policy/policy.ts';
import type { ProjectConfig } from '../services/config/project-config.ts';
import { isSameProject } from '../services/config/project-queue.ts';
import { ConfigError } from '../services/home/config-error.ts';
import { ClientError } from './client-error.ts';

/** Throws `ConfigError`, which names the file, the rule and what is wrong with it. */
export function policiesIn({ defaults: { policy } }: Pick<ProjectConfig, 'defaults'>, path: string): Policy[] {
  if (policy === undefined) return [];
  const read = readPolicy(policy);
  if ('policy' in read) return [read.policy];
  throw new ConfigError(`${path}: "policy" of its "defaults" cannot be used: ${read.findings.join('; ')}.`);
}

/** Those of one project, however its folder is spelled; no other project has any here. */
export const policiesOfProject =
  (project: string | null | undefined, policies: readonly Policy[]) =>
  (folder: string): readonly Policy[] =>
    policies.length > 0 && typeof project === 'string' && isSameProject(folder, project) ? policies : [];

/** What a program or a file gives. Throws `POLICY_INVALID`. */
export function givenPolicy(given: unknown, what = 'The policy'): Policy {
  const read = readPolicy(given);
  if ('policy' in read) return read.policy;
  throw new ClientError('POLICY_INVALID', [`${what} cannot be used:`, ...read.findings].join('\n'));
}

/** One list of rules, or several of which each is asked. Throws `POLICY_INVALID`. */
export function givenPolicies(given: unknown): Policy[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length === 0 || !given.every(Array.isArray)) return [givenPolicy(given)];
  return given.map((policy, index) => givenPolicy(policy, given.length === 1 ? undefined : `Policy ${index + 1}`));
}

const textOf = (policy: Policy): string => canonicalText(policy);

/** Those of the given that do not hold anyway. */
export function besides(inherited: readonly Policy[], given: readonly Policy[]): Policy[] {
  const known = new Set(inherited.map(textOf));
  const own = given.filter((policy) => policy.length > 0 && !known.has(textOf(policy)) && known.add(textOf(policy)));
  if (known.size > policiesMax)
    throw new ClientError(
      'POLICY_INVALID',
      `${known.size} policies would hold for the run, and ${policiesMax} are the limit: start it with one that has the rules of several.`,
    );
  return own;
}
