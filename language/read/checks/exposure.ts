/**
 * What a definition gives away or may not do: secrets written into it, steps that its mode refuses, and
 * variables by which a sandboxed step steers what it starts.
 */
import type { Catalogue } from '../../catalogue.ts';
import { permissionOf, refusalOf, stricter, type Mode } from '../../permissions.ts';
import type { Problem } from '../../problems.ts';
import { isPlain, type Origins } from '../draft/draft.ts';
import type { DefinitionSite, Sites } from '../inventory/sites.ts';

export function checkExposure(sites: Sites, origins: Origins, catalogue: Catalogue): Problem[] {
  const modes = new Map(sites.definitions.map((site) => [site, modeOf(site)]));
  return [
    ...sites.steps.flatMap(({ step, path, place }): Problem[] => {
      const command = step.type === 'command' ? { command: step.command } : {};
      const refusal = refusalOf(catalogue, modes.get(place.definition), {
        permission: permissionOf(catalogue, step),
        ...command,
      });
      if (refusal === null) return [];
      return [
        {
          code: 'REFUSED_BY_MODE',
          severity: 'warning',
          path,
          message: `this step ${refusal}; it fails when it is reached`,
        },
      ];
    }),
    ...sites.steps.flatMap(({ step, path, place }) =>
      modes.get(place.definition) === 'sandboxed' ? steeringIn(step, (keys) => origins.locate(step, path, keys)) : [],
    ),
    ...sites.steps.flatMap(({ step, path }) =>
      secretsIn(withoutInner(step), (keys) => origins.locate(step, path, keys)),
    ),
    ...sites.definitions.flatMap(({ value, path }) =>
      secretsIn({ inputs: value['inputs'] }, (keys) => origins.locate(value, path, keys)),
    ),
  ];
}

function modeOf(site: DefinitionSite): Mode {
  const own = site.value['mode'];
  const known = own === 'full' || own === 'readonly' || own === 'sandboxed' ? own : undefined;
  return stricter(known, site.parent === undefined ? undefined : modeOf(site.parent.definition));
}

/** Steps inside a step are looked at by themselves. */
function withoutInner(step: object): object {
  const inner = new Set(['then', 'else', 'always', 'steps', 'branches', 'definition']);
  return Object.fromEntries(Object.entries(step).filter(([key]) => !inner.has(key)));
}

/** The loader, shells and git take orders from these. */
const STEERING = /^(?:LD_\w+|DYLD_\w+|BASH_ENV|ENV|GIT_\w+)$/;

function steeringIn(step: object, locate: (keys: string[]) => string): Problem[] {
  const { env, params } = step as { env?: unknown; params?: unknown };
  const places: [string[], unknown][] = [
    [['env'], env],
    [['params', 'env'], isPlain(params) ? params['env'] : undefined],
  ];
  return places.flatMap(([keys, variables]) =>
    Object.keys(isPlain(variables) ? variables : {})
      .filter((name) => STEERING.test(name))
      .map((name): Problem => ({
        code: 'STEERING_VARIABLE',
        severity: 'warning',
        path: locate([...keys, name]),
        message: `${name} steers every program that this step starts; inside the sandbox it takes effect, so leave it out unless that is meant`,
      })),
  );
}

/** Forms that are given out for one purpose: keys of model providers, of clouds, of code hosts; private keys. */
const SECRETS: ReadonlyArray<readonly [string, RegExp]> = [
  ['an Anthropic key', /\bsk-ant-[\w-]{20,}/],
  ['an OpenAI key', /\bsk-(?:proj-)?[A-Za-z0-9_-]{32,}/],
  ['an AWS key', /\bAKIA[0-9A-Z]{16}\b/],
  ['a Google key', /\bAIza[\w-]{35}/],
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{50})/],
  ['a GitLab token', /\bglpat-[\w-]{20}/],
  ['a Slack token', /\bxox[abprs]-[\w-]{20}/],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
];

function secretsIn(root: unknown, locate: (keys: string[]) => string): Problem[] {
  const problems: Problem[] = [];
  const visit = (value: unknown, keys: string[]): void => {
    if (typeof value === 'string') {
      const found = SECRETS.find(([, pattern]) => pattern.test(value));
      if (found === undefined) return;
      const message = `this looks like ${found[0]}, and a definition is kept in the store, in histories and in logs; read it from the environment with {{env.NAME}} and list the name in "env"`;
      problems.push({ code: 'SECRET_IN_TEXT', severity: 'warning', path: locate(keys), message });
    } else if (Array.isArray(value) || isPlain(value))
      for (const [key, item] of Object.entries(value)) visit(item, [...keys, key]);
  };
  visit(root, []);
  return problems;
}
