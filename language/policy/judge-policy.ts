/**
 * What policies say of an action. A run has those of the runs around it first, then the project's and its own; each of
 * them is asked, and one that is further inside only ever makes it stricter.
 */
import {
  SHELL_COMMAND,
  asksModels,
  editsRuns,
  findCommand,
  startsRuns,
  type Catalogue,
  type Permission,
} from '../catalogue.ts';
import type { Json } from '../json.ts';
import type { Step } from '../model.ts';
import { plainName } from '../rights/secret-files.ts';
import { matchesGlob } from './glob.ts';
import { hostsIn, pathsIn, type Named } from './names-in.ts';
import type { ActionKind, Policy, PolicyMatch, PolicyRule } from './policy.ts';

/** An action as a policy sees it. */
export interface ActionFacts {
  kinds: readonly ActionKind[];
  /** Of a shell step the command that it is. */
  command?: string;
  permission: Permission | null;
  by: 'step' | 'model';
  /** What it says: its parameters, its line, what it would do. */
  value: Json;
  project: string;
}

/** The kinds of what a command does; without its parameters, of all that it may do. */
export function kindsOfCommand(
  catalogue: Catalogue,
  command: string,
  params?: { readonly [name: string]: unknown },
): ActionKind[] {
  const entry = findCommand(catalogue, command);
  const hasLine = params === undefined || params['command'] !== undefined;
  return [
    'command',
    ...((entry?.takesShellLine === true && hasLine) || command === SHELL_COMMAND ? (['shell'] as const) : []),
    ...(entry !== undefined && startsRuns(entry) ? (['sentinel'] as const) : []),
    ...(entry !== undefined && asksModels(entry) ? (['llm'] as const) : []),
  ];
}

/** The rule of each policy that decides about the action. */
export function rulesFor(policies: readonly Policy[], facts: ActionFacts): PolicyRule[] {
  const names = new Names(facts);
  return policies.flatMap((policy) => policy.find((rule) => fits(rule, facts, names)) ?? []);
}

/** Read where a rule asks for them. */
class Names {
  #paths: Named | undefined;
  #hosts: Named | undefined;
  readonly #facts: ActionFacts;

  constructor(facts: ActionFacts) {
    this.#facts = facts;
  }

  get paths(): Named {
    return (this.#paths ??= pathsIn(this.#facts.value, this.#facts.project));
  }

  get hosts(): Named {
    return (this.#hosts ??= hostsIn(this.#facts.value));
  }
}

function fits({ match, verdict }: PolicyRule, facts: ActionFacts, names: Names): boolean {
  if (!fitsKind(match, facts) || (match.by !== undefined && match.by !== facts.by)) return false;
  const { paths, hosts } = match;
  return (
    (paths === undefined || namesOne(paths, names.paths, verdict)) &&
    (hosts === undefined || namesOne(hosts, names.hosts, verdict))
  );
}

type Sort = Pick<ActionFacts, 'kinds' | 'command' | 'permission'>;

function fitsKind({ kinds, commands, permissions }: PolicyMatch, facts: Sort): boolean {
  const { command, permission } = facts;
  if (kinds !== undefined && !kinds.some((kind) => facts.kinds.includes(kind))) return false;
  if (commands !== undefined && (command === undefined || !commands.some((glob) => matchesGlob(glob, command))))
    return false;
  return permissions === undefined || (permission !== null && permissions.includes(permission));
}

/** What is allowed by its names is allowed for all of them; what is kept from an action, for any that it may mean. */
function namesOne(globs: readonly string[], { meant, possible }: Named, verdict: PolicyRule['verdict']): boolean {
  if (verdict === 'allow')
    return meant.length > 0 && meant.every((name) => globs.some((glob) => matchesGlob(glob, name)));
  return possible.some((name) => globs.some((glob) => matchesGlob(plainName(glob), plainName(name))));
}

/** Whether no call of the command by a model can pass: for each sort of call, a policy refuses it whatever else it says. */
export const refusesAlways = (policies: readonly Policy[], catalogue: Catalogue, command: string): boolean =>
  sortsOfCall(catalogue, command).every((sort) => policies.some((policy) => refusesSort(policy, sort)));

function refusesSort(policy: Policy, sort: Sort): boolean {
  for (const { match, verdict } of policy) {
    if (match.by === 'step' || !fitsKind(match, sort)) continue;
    if (verdict !== 'refuse') return false;
    if (match.paths === undefined && match.hosts === undefined) return true;
  }
  return false;
}

export const policyAsks = (policies: readonly Policy[], facts: ActionFacts): boolean =>
  rulesFor(policies, facts).some(({ verdict }) => verdict === 'ask');

/** Whether somebody may be asked about what the step does, before its values are known. */
export function mayAsk(policies: readonly Policy[], catalogue: Catalogue, step: Step): boolean {
  const sorts = sortsOf(catalogue, step);
  return policies.some((policy) =>
    policy.some(({ verdict, match }) => verdict === 'ask' && sorts.some((sort) => fitsKind(match, sort))),
  );
}

/** Whether an action of the step may be asked about, or what it would do looked at, before it is done. */
export function isLookedAt(policies: readonly Policy[], catalogue: Catalogue, step: Step): boolean {
  if (mayAsk(policies, catalogue, step)) return true;
  const entry = step.type === 'command' ? findCommand(catalogue, step.command) : undefined;
  return entry !== undefined && (editsRuns(entry) || (entry.resolves === true && looksAtNames(policies)));
}

/** Whether a rule looks at the paths or the hosts that an action names. */
export function looksAtNames(policies: readonly Policy[]): boolean {
  return policies.some((policy) =>
    policy.some(({ match: { paths, hosts } }) => paths !== undefined || hosts !== undefined),
  );
}

/** With a line for a shell in its parameters, and without one. */
const sortsOfCall = (catalogue: Catalogue, command: string): Sort[] =>
  [kindsOfCommand(catalogue, command), kindsOfCommand(catalogue, command, {})].flatMap((kinds) =>
    classesOf(catalogue, command).map((permission) => ({ kinds, command, permission })),
  );

function classesOf(catalogue: Catalogue, command: string): Permission[] {
  const { permission = 'shell', operations = {} } = findCommand(catalogue, command) ?? {};
  return [...new Set([permission, ...Object.values(operations)])];
}

/** Each sort of action that the step may come to: its parameters say which operation it is. */
function sortsOf(catalogue: Catalogue, step: Step): Sort[] {
  switch (step.type) {
    case 'shell':
      return [{ kinds: ['shell'], command: SHELL_COMMAND, permission: 'shell' }];
    case 'command': {
      const { command } = step;
      const kinds = kindsOfCommand(catalogue, command);
      return classesOf(catalogue, command).map((permission) => ({ kinds, command, permission }));
    }
    case 'llm':
    case 'emit':
    case 'sentinel':
      return [{ kinds: [step.type], permission: null }];
    case 'watch':
      return step.event === undefined ? [{ kinds: ['watch'], permission: null }] : [];
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
    case 'condition':
    case 'loop':
    case 'parallel':
      return [];
    default:
      return step satisfies never;
  }
}
