/** Names across steps: labels that references ask for, environment variables they may read, and branches that set the same variable. */
import type { ParallelStep } from '../../model.ts';
import { variablesSetBy } from '../../references/variables-set.ts';
import { quotedLabel } from '../../expression/braces.ts';
import type { Problem } from '../../problems.ts';
import { nearestFix } from '../remedies/meant-word.ts';
import type { ReferenceSite } from '../inventory/collect-references.ts';
import { isPlain, type Origins } from '../draft/draft.ts';
import type { DefinitionSite, Sites } from '../inventory/sites.ts';

export function checkLabels(sites: Sites, references: readonly ReferenceSite[], origins: Origins): Problem[] {
  const labels = labelsOf(sites);
  return [
    ...references.flatMap((reference) => [...checkNamed(reference, labels), ...checkEnv(reference)]),
    ...sites.steps.flatMap(({ step, path }) =>
      step.type === 'parallel' ? checkBranches(step, origins.locate(step, path, ['branches'])) : [],
    ),
  ];
}

type Labels = ReadonlyMap<DefinitionSite, ReadonlySet<string>>;

function labelsOf(sites: Sites): Labels {
  const labels = new Map<DefinitionSite, Set<string>>(sites.definitions.map((site) => [site, new Set()]));
  for (const { name, definition } of sites.refused) labels.get(definition)?.add(name);
  for (const { step, place } of sites.steps) {
    const own = labels.get(place.definition);
    if (step.name !== undefined) own?.add(step.name);
    for (const name of variablesSetBy(step)) own?.add(name);
  }
  return labels;
}

function* chain(definition: DefinitionSite): Iterable<DefinitionSite> {
  for (let at: DefinitionSite | undefined = definition; at !== undefined; at = at.parent?.definition) yield at;
}

function checkNamed(reference: ReferenceSite, labels: Labels): Problem[] {
  const [label] = reference.path;
  if (reference.name !== 'named' || label === undefined) return [];
  const known = [...chain(reference.place.definition)].flatMap((site) => [...(labels.get(site) ?? [])]);
  if (known.includes(label)) return [];
  const longer = known.find((name) => name.startsWith(`${label} `));
  const quoted = longer === undefined ? undefined : quotedLabel(longer);
  const fix = quoted === undefined ? nearestFix(label, known) : { fix: `write the label in quotes: ${quoted}` };
  const message = `no step here is called "${label}" (${reference.written}); ${fix.fix ?? `give a step the "name": "${label}"`}`;
  return [{ code: 'UNKNOWN_LABEL', severity: 'warning', path: reference.at, message, ...fix }];
}

function checkEnv(reference: ReferenceSite): Problem[] {
  const [variable] = reference.path;
  if (reference.name !== 'env' || variable === undefined) return [];
  const allowed = [...chain(reference.place.definition)].flatMap(({ value }) =>
    Array.isArray(value['env']) ? value['env'] : [],
  );
  if (allowed.includes(variable)) return [];
  const fix = `add "env": ["${variable}"] to the definition`;
  return [
    {
      code: 'ENV_NOT_ALLOWED',
      severity: 'warning',
      path: reference.at,
      message: `"${variable}" is not among the environment variables this definition may read, so ${reference.written} is empty; ${fix}`,
      fix,
    },
  ];
}

const INNER = ['then', 'else', 'always', 'steps', 'branches'];

/** Branches run at once, and where two set the same variable only the later branch's value is left. */
function checkBranches(step: ParallelStep, path: string): Problem[] {
  const first = new Map<string, number>();
  const problems: Problem[] = [];
  for (const [index, branch] of (step.branches ?? []).entries()) {
    for (const name of new Set(outputsOf(branch))) {
      const before = first.get(name);
      if (before === undefined) first.set(name, index);
      else
        problems.push({
          code: 'OUTPUT_CLASH',
          severity: 'warning',
          path: `${path}.${index}`,
          message: `branches ${before} and ${index} both set "${name}", and only the later one's value is left; give them different names`,
        });
    }
  }
  return problems;
}

/** Inner steps are checked by themselves, so what stands here may be anything. */
function outputsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(outputsOf);
  if (!isPlain(value)) return [];
  const set = value['type'] === 'set' && isPlain(value['values']) ? Object.keys(value['values']) : [];
  const own = typeof value['outputTo'] === 'string' ? [value['outputTo']] : set;
  return [...own, ...INNER.flatMap((key) => outputsOf(value[key]))];
}
