/**
 * The policy of a run: rules about its actions, in order, as data. The first rule that matches decides, and where none
 * does the action is allowed, as far as everything else allows it. The one reader, behind every door.
 */
import * as z from 'zod';
import { isJsonObject, type JsonObject } from '../json.ts';
import { globLengthMax, policyRulesMax } from '../limits.ts';
import { zodFaults } from '../params/zod-faults.ts';

const Glob = z.string().min(1).max(globLengthMax);
const globs = z.array(Glob).min(1).optional();

/** What an action does, however it is written: a command that hands a line to a shell is a `shell`, too. */
export const ActionKind = z.enum(['shell', 'command', 'llm', 'emit', 'sentinel', 'watch']);
export type ActionKind = z.infer<typeof ActionKind>;

/** All that is said has to fit; of each list, one. */
export const PolicyMatch = z.strictObject({
  kinds: z.array(ActionKind).min(1).optional(),
  commands: globs,
  permissions: z
    .array(z.enum(['read', 'write', 'shell', 'delete', 'network']))
    .min(1)
    .optional(),
  paths: globs,
  hosts: globs,
  by: z.enum(['step', 'model']).optional(),
});
export type PolicyMatch = z.infer<typeof PolicyMatch>;

export const PolicyRule = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'is letters, digits, and . _ -, 64 at most, and begins with a letter or digit'),
  match: PolicyMatch,
  verdict: z.enum(['allow', 'ask', 'refuse']),
  reason: z.string().trim().min(1).max(500),
});
export type PolicyRule = z.infer<typeof PolicyRule>;

export const Policy = z
  .array(PolicyRule)
  .max(policyRulesMax)
  .superRefine((rules, context) => {
    const names = rules.map(({ name }) => name);
    for (const [index, name] of names.entries())
      if (names.indexOf(name) < index)
        context.addIssue({
          code: 'custom',
          path: [index, 'name'],
          message: `"${name}" is the name of another rule, too; each rule has its own`,
        });
  });
export type Policy = z.infer<typeof Policy>;

export type ReadPolicy = { policy: Policy } | { findings: string[] };

const findingsMax = 20;

/** A list of rules, or what is wrong with it, by place. */
export function readPolicy(given: unknown): ReadPolicy {
  if (!Array.isArray(given))
    return {
      findings: [
        isJsonObject(given) && Array.isArray(given['policy'])
          ? 'it is an object; write the list of its "policy" alone'
          : 'it is no list; a policy is a list of rules, [{"name": …, "match": {…}, "verdict": "refuse", "reason": …}]',
      ],
    };
  const read = Policy.safeParse(given);
  if (read.success) return { policy: read.data };
  const faults = zodFaults(Policy, given as unknown as JsonObject);
  const findings = faults.map(({ path, message }) => `${place(path, given)} ${message}`.trim());
  const more = findings.length - findingsMax;
  return { findings: [...findings.slice(0, findingsMax), ...(more > 0 ? [`and ${more} more`] : [])] };
}

/** By the name of the rule, where it has one. */
function place([index = '', ...rest]: readonly string[], rules: readonly unknown[]): string {
  if (index === '') return 'the policy';
  const rule = rules[Number(index)];
  const name = isJsonObject(rule) ? rule['name'] : undefined;
  const at = [index, ...rest].join('.');
  return typeof name === 'string' && rest[0] !== 'name' ? `${at} (rule "${name}")` : at;
}
