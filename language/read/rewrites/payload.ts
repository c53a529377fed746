/**
 * What `sentinel/run` is handed besides a definition: an object around one (with who owns the run, where
 * it reports and when it turns to its persona), a bare pipeline of steps, or a single step.
 */
import { canonicalText } from '../../canonical.ts';
import { isPlain, join, pathOf, rename, setOwn, withoutEffect, type Draft, type Plain } from '../draft/draft.ts';
import { readJson } from './json-values.ts';
import { rewriteSpelling } from './spelling.ts';
import { STEP_TAGS } from './variants.ts';

/** What the object around a definition says of it, in the definition's own words. */
const SAID_OUTSIDE = ['reportTo', 'escalateOn', 'inputs', 'trigger', 'timeoutMs', 'safety', 'mode'];

/** What a definition may call itself. */
export const PROGRAM_TYPES = ['pipeline', 'sentinel', 'recipe', 'dojo', 'training', 'workflow'];

/** Words that a definition may stand under alone. */
export const AROUND = ['sentinel', 'workflow'];

/** The draft becomes the definition inside; gives a word for it where it may go without a name. */
export function rewritePayload(draft: Draft): string | undefined {
  let kind: string | undefined;
  for (const key of AROUND)
    if (isPlain(draft.value[key]) && Object.keys(draft.value).length === 1) rename(draft, key, 'definition');
  while (isSpawn(draft.value)) {
    rewriteSpelling(draft);
    readJson(draft, 'definition');
    if (!takeDefinition(draft)) break;
    kind = 'payload';
  }
  return wrapStep(draft) ?? takeType(draft) ?? kind;
}

function isSpawn(value: Plain): boolean {
  return (
    Object.hasOwn(value, 'definition') &&
    !['steps', 'pipeline', 'type', 'outputTo', 'await'].some((key) => Object.hasOwn(value, key))
  );
}

function takeDefinition(draft: Draft): boolean {
  const outer = draft.value;
  const inner = outer['definition'];
  const named = typeof inner === 'string' && /^[\w./:-]+$/.test(inner) ? { $ref: inner } : inner;
  if (!isPlain(named)) return false;
  const inherits = takeOwner(draft, Object.hasOwn(named, '$ref'));
  const inheritedAt = pathOf(draft, 'inheritContext');
  delete outer['inheritContext'];
  const at = pathOf(draft, 'definition');
  const content = Object.hasOwn(named, '$ref')
    ? around(named, at, draft)
    : draft.origins.begin(named, at, draft.problems);
  const moved = new Map<string, string>();
  for (const key of Object.keys(content.value)) moved.set(key, pathOf(content, key));
  const value = { ...content.value };
  for (const key of Object.keys(outer)) {
    if (key === 'definition' || (SAID_OUTSIDE.includes(key) && Object.hasOwn(value, key))) continue;
    setOwn(value, key, outer[key]);
    moved.set(key, pathOf(draft, key));
  }
  if (inherits) {
    if (!Object.hasOwn(value, 'ragSources')) moved.set('ragSources', inheritedAt);
    setOwn(value, 'ragSources', withMemory(value['ragSources']));
  }
  draft.value = value;
  draft.moved = moved;
  return true;
}

/** What the owner of a run remembers, as a source of context. */
const MEMORY = 'memory';

/** A list as it may be written; anything else stays as it is, for others to find fault with. */
function withMemory(sources: unknown): unknown {
  if (sources === undefined) return [MEMORY];
  if (typeof sources === 'string') return `${sources}, ${MEMORY}`;
  return Array.isArray(sources) && !sources.includes(MEMORY) ? [...(sources as unknown[]), MEMORY] : sources;
}

/** Outermost, the owner is who the run belongs to; further in, a run belongs to whoever owns the one around it. True: it shares what its owner remembers. */
function takeOwner(draft: Draft, isNamed: boolean): boolean {
  const owner = draft.value['parentPersonaId'];
  if (draft.path === '' && typeof owner === 'string') draft.origins.persona = owner;
  delete draft.value['parentPersonaId'];
  if (draft.value['inheritContext'] !== true) return false;
  if (isNamed)
    withoutEffect(
      draft,
      'inheritContext',
      `a definition that is only named has its own "ragSources"; add "${MEMORY}" there`,
    );
  return !isNamed;
}

/** A run of a definition that is only named is a run that runs it. */
function around(reference: Plain, at: string, draft: Draft): Draft {
  const step = { type: 'sentinel', definition: reference };
  const steps = [step];
  draft.origins.set(reference, at, typeof draft.value['definition'] === 'string' ? new Map([['$ref', at]]) : undefined);
  draft.origins.set(step, at, new Map([['definition', at]]));
  draft.origins.set(steps, at, new Map([['0', at]]));
  const value: Plain = { steps };
  if (typeof reference['$ref'] === 'string') value['name'] = `run-${reference['$ref']}`;
  return {
    ...draft,
    value,
    path: at,
    moved: new Map([
      ['steps', at],
      ['name', at],
    ]),
  };
}

function wrapStep(draft: Draft): string | undefined {
  const { value } = draft;
  const type = typeof value['type'] === 'string' ? value['type'].toLowerCase() : undefined;
  const hasSteps =
    Object.hasOwn(value, 'steps') || Object.hasOwn(value, 'pipeline') || Object.hasOwn(value, 'challenges');
  const isTyped = type !== undefined && Object.hasOwn(STEP_TAGS, type) && !(type === 'sentinel' && hasSteps);
  const isLine = !hasSteps && type === undefined && ['command', 'cmd'].some((key) => typeof value[key] === 'string');
  const [only] = Object.keys(value);
  const isTag =
    only !== undefined &&
    Object.keys(value).length === 1 &&
    Object.hasOwn(STEP_TAGS, only.toLowerCase()) &&
    only !== 'loop';
  if (!isTyped && !isLine && !isTag) return undefined;
  const step = value;
  const steps = [step];
  draft.origins.set(step, draft.path, draft.moved);
  draft.origins.set(steps, draft.path, new Map([['0', draft.path]]));
  draft.value = { steps };
  draft.moved = new Map([['steps', draft.path]]);
  return type ?? 'step';
}

function takeType(draft: Draft): string | undefined {
  const { type } = draft.value;
  if (typeof type !== 'string' || !PROGRAM_TYPES.includes(type.toLowerCase())) return undefined;
  delete draft.value['type'];
  return type.toLowerCase();
}

/** The same steps have the same name, however often they are handed over. */
function nameFor(kind: string, value: Plain): string {
  const text = canonicalText(value);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return `${kind}-${hash.toString(16).padStart(8, '0')}`;
}

/** Where a definition handed over as it is has no name, it gets one; a nested one that of its step, or one made from its steps. */
export function rewriteMissingName(draft: Draft, kind: string | undefined, label: string | undefined): void {
  if (Object.hasOwn(draft.value, 'name')) return;
  const said =
    kind ?? (draft.path === '' || !Array.isArray(draft.value['steps']) || label !== undefined ? undefined : 'pipeline');
  const name = label ?? (said === undefined ? undefined : nameFor(said, { steps: draft.value['steps'] ?? null }));
  if (name === undefined) return;
  draft.value['name'] = name;
  draft.origins.inferred.push(`${join(draft.path, 'name')} is "${name}": the ${said ?? 'definition'} has none`);
}
