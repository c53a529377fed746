/** What a run may touch, by permission class: which steps, and what they do there. */
import { asksModels, findCommand, hasSources, type Catalogue, type Permission } from '../catalogue.ts';
import { shortened } from '../graph/step-label.ts';
import type { Definition, Step } from '../model.ts';
import { permissionOf, permissionOfCommand, refusalOf } from '../permissions.ts';
import { verificationOf } from '../unknown-outcomes.ts';
import { visitSteps, type KnownRefs } from './visit.ts';

export interface Touch {
  /** `model`: what is sent to a model and paid for. */
  permission: Permission | 'model';
  sentence: string;
  /** Paths of the steps. */
  steps: string[];
}

const SENTENCES: Readonly<Record<Touch['permission'], (what: string) => string>> = {
  read: (what) => `It reads: ${what}.`,
  write: (what) => `It writes: ${what}.`,
  shell: (what) => `It runs programs, which may do whatever their user may: ${what}.`,
  delete: (what) => `It deletes: ${what}.`,
  network: (what) => `It uses the network: ${what}.`,
  model: (what) => `It asks models: ${what}.`,
};

const ORDER: ReadonlyArray<Touch['permission']> = ['shell', 'delete', 'write', 'network', 'model', 'read'];
const namedMax = 5;

export function touchesOf(definition: Definition, known: KnownRefs, catalogue: Catalogue): Touch[] {
  const found = new Map<Touch['permission'], { steps: string[]; what: Set<string> }>();
  const note = (permission: Touch['permission'], path: string, what: string): void => {
    const entry = found.get(permission) ?? { steps: [], what: new Set<string>() };
    found.set(permission, entry);
    entry.steps.push(path);
    entry.what.add(what);
  };
  if (hasSources(definition))
    note('read', 'context.0', `before each pass what models are told (${sourcesOf(definition)})`);
  visitSteps(definition, known, ({ step, path }) => {
    const permission = step.type === 'llm' ? 'model' : permissionOf(catalogue, step);
    if (permission !== null) note(permission, path, whatOf(step));
    const verification = verificationOf(step);
    if (verification !== undefined)
      note(permissionOfCommand(catalogue, verification.verify, verification.params), path, verification.verify);
    const entry = step.type === 'command' ? findCommand(catalogue, step.command) : undefined;
    if (step.type === 'command' && entry !== undefined && asksModels(entry)) note('model', path, step.command);
  });
  return ORDER.flatMap((permission) => {
    const entry = found.get(permission);
    if (entry === undefined) return [];
    const refused = permission === 'model' ? null : refusalOf(catalogue, definition.mode, { permission });
    const suffix = refused === null ? '' : ` Its mode refuses that: each of these steps ${refused}.`;
    return [{ permission, sentence: SENTENCES[permission](listed([...entry.what])) + suffix, steps: entry.steps }];
  });
}

const sourcesOf = ({ recipe, ragSources = [] }: Definition): string =>
  listed([...(recipe === undefined ? [] : [`recipe "${recipe}"`]), ...ragSources.map((source) => shortened(source))]);

function whatOf(step: Step): string {
  switch (step.type) {
    case 'shell':
      return `\`${shortened(step.command)}\``;
    case 'command': {
      const place = [step.params?.['path'], step.params?.['collection'], step.params?.['operation']].find(
        (value) => typeof value === 'string',
      );
      return place === undefined ? step.command : `${step.command} (${shortened(place)})`;
    }
    case 'llm':
      return step.model ?? 'auto';
    case 'watch':
    case 'emit':
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
    case 'condition':
    case 'loop':
    case 'parallel':
    case 'sentinel':
      return step.type;
    default:
      return step satisfies never;
  }
}

export function listed(items: readonly string[]): string {
  if (items.length <= namedMax) return items.join(', ');
  return `${items.slice(0, namedMax).join(', ')}, and ${items.length - namedMax} more`;
}
