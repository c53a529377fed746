/**
 * What a run's history begins with: only what the workflow cannot know by itself. Its handle is in
 * its workflow id, its start in its first event, its own limits in its definition.
 */
import type { Catalogue } from '../../language/catalogue.ts';
import type { JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import type { Policy } from '../../language/policy/policy.ts';
import type { RunOrigin } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import { LEVEL_NOW } from '../../interpreter/changes.ts';
import type { RunInput } from '../../interpreter/host.ts';
import type { Inheritance, RunLimits } from '../../interpreter/effect.ts';
import { limitsOf } from '../../interpreter/limits.ts';

export interface StartInput {
  definition: Definition;
  /** Left out where the run's row, written before its start, says it. */
  definitionHash?: string;
  project: string;
  /** Of a nested run: the folder that it works in, where that is not the project, and what its own workspace, forked from there, is named after. */
  root?: string;
  forks?: string;
  persona: string;
  inputs?: JsonObject;
  /** Definitions that `$ref`s resolve to, by name. */
  library?: { [name: string]: Definition };
  /** The commands that these definitions name. */
  catalogue?: Catalogue;
  /** For a run that a step of another one started: how deep it is, and the limits it inherits. `parent`: where it is nested in that one, and `awaited` where that waits for its end; `unset`: names of the runs around that have no value. */
  nested?: Inheritance & { parent?: string; awaited?: true; unset?: string[] };
  /** What is to hold for its actions besides the policies that it inherits. */
  policies?: Policy[];
  /** Values of the environment variables that the definitions list. */
  env?: { [name: string]: string };
  continueEvery?: number;
  /** It takes one of the places of its persona while it is at work: there are only so many. */
  places?: true;
  /** What started it, where nobody did by hand. */
  origin?: RunOrigin;
  /** The changes of behaviour it starts with: `LEVEL_NOW` (interpreter/changes.ts); absent, none. */
  level?: number;
}

export function runInputOf(start: StartInput, handle: string, startedAt: number): RunInput {
  const {
    definition,
    definitionHash = '',
    project,
    persona,
    inputs = {},
    library = {},
    catalogue = {},
    nested,
    policies = [],
    env,
    continueEvery,
    places,
    level,
    root,
    forks,
  } = start;
  return {
    handle,
    definition,
    library,
    catalogue,
    definitionHash,
    project,
    persona,
    base: inputs,
    limits: withPolicies(limitsOf(definition, nested?.limits ?? null), policies),
    depth: nested?.depth ?? 1,
    parent: nested?.parent ?? null,
    startedAt,
    ...defined({ unset: nested?.unset, awaited: nested?.awaited }),
    ...defined({ env, continueEvery, places, level, root, forks }),
  };
}

const withPolicies = (limits: RunLimits, own: Policy[]): RunLimits =>
  own.length === 0 ? limits : { ...limits, policies: [...(limits.policies ?? []), ...own] };

/** The way back: what a nested run, or the same run continued as new, starts with. */
export function startInputOf(input: RunInput, inherited: RunLimits): StartInput {
  const { definition, definitionHash, project, persona, base, library, catalogue } = input;
  const { parent, depth, unset, awaited, env, continueEvery, places, root, forks } = input;
  const nested =
    parent === null && depth === 1
      ? undefined
      : {
          ...(parent === null ? {} : { parent }),
          depth,
          limits: inherited,
          ...defined({ unset, awaited }),
        };
  return withoutEmpty({
    definition,
    definitionHash,
    project,
    root,
    forks,
    persona,
    inputs: base,
    library,
    catalogue,
    nested,
    policies: nested === undefined ? inherited.policies : undefined,
    env,
    continueEvery,
    places,
    level: START_LEVEL,
  });
}

/** The level of today; left out of the start input while the ledger is empty. */
export const START_LEVEL: number | undefined = LEVEL_NOW === 0 ? undefined : LEVEL_NOW;

type Loose<Input> = { [Key in keyof Input]: Input[Key] | undefined };

function saysSomething(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== '' &&
    !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}

/** Leaves out what says nothing: each byte here is in every history. */
export function withoutEmpty(start: Loose<Required<StartInput>> | Loose<StartInput>): StartInput {
  return Object.fromEntries(Object.entries(start).filter(([, value]) => saysSomething(value))) as unknown as StartInput;
}
