/**
 * Which model `auto` is: by what the task needs, how much the step wants it to think, and who can be
 * reached. Models on the user's own hardware come first.
 */
import type { Effort, TurnRequest } from '../port/turn.ts';
import type { ModelFacts } from '../records/facts.ts';
import type { ModelDirectory, OpenProvider } from './directory.ts';
import { parseModelString } from '../../../language/models/model-string.ts';
import type { TaskClass, Tier } from './settings.ts';

export type Needs = Pick<TurnRequest, 'tools' | 'schema' | 'thinking' | 'messages'>;

export interface Route {
  /** `provider/model`, or another model string of a route; null where nobody can be reached. */
  model: string | null;
  /** What was chosen and why, and why not what stands before it. */
  reason: string;
  /** Nobody can be reached now, and somebody may be later. */
  isAway: boolean;
}

const CLOUD: Readonly<Record<Tier, readonly string[]>> = {
  small: ['anthropic/claude-haiku-5-5', 'openai/gpt-5.6-luna'],
  medium: ['anthropic/claude-sonnet-5-5', 'openai/gpt-5.6-terra'],
  large: ['anthropic/claude-opus-5-5', 'openai/gpt-5.6-sol'],
};

export async function routeFor(needs: Needs, directory: ModelDirectory, signal: AbortSignal): Promise<Route> {
  const [task, tier] = [taskOf(needs), tierOf(needs.thinking)];
  const route = `auto (${task}, ${tier})`;
  const passed: string[] = [];
  let isAway = false;
  for (const entry of entriesFor(directory, task, tier)) {
    const found = await tryEntry(entry, needs, directory, signal);
    if (found.ok)
      return { model: found.model, reason: [`${route} is ${found.model}`, ...passed].join('; '), isAway: false };
    passed.push(`${entry}: ${found.why}`);
    isAway ||= found.isAway === true;
  }
  return { model: null, reason: [`${route}: no model can be reached`, ...passed].join('; '), isAway };
}

export function taskOf({ tools, schema, messages }: Needs): TaskClass {
  if (hasImages(messages)) return 'vision';
  if ((tools?.length ?? 0) > 0) return 'tools';
  return schema === undefined ? 'text' : 'schema';
}

export function tierOf(thinking: Effort | undefined): Tier {
  switch (thinking) {
    case 'off':
    case 'low':
      return 'small';
    case undefined:
    case 'medium':
      return 'medium';
    case 'high':
    case 'max':
      return 'large';
    default:
      return thinking satisfies never;
  }
}

const hasImages = (messages: Needs['messages']): boolean =>
  messages.some(({ blocks }) => blocks.some((block) => block.type === 'image'));

/** Of the project's routes, or local first, then other servers by what they list, then hosted models by size. */
function entriesFor({ settings, providers }: ModelDirectory, task: TaskClass, tier: Tier): readonly string[] {
  const own = settings.routes[task]?.[tier] ?? settings.routes['*']?.[tier];
  if (own !== undefined) return own;
  const all = [...providers.values()].map(({ provider }) => provider);
  const listed = [
    ...all.filter(({ isLocal }) => isLocal),
    ...all.filter(({ isLocal, isListed }) => isListed && !isLocal),
  ];
  const names = new Set(listed.map(({ name }) => name));
  return [
    ...listed.map(({ name }) => `${name}/*`),
    ...CLOUD[tier].filter((entry) => !names.has(entry.split('/')[0] ?? '')),
  ];
}

type Tried = { ok: true; model: string } | { ok: false; why: string; isAway?: boolean };

async function tryEntry(entry: string, needs: Needs, directory: ModelDirectory, signal: AbortSignal): Promise<Tried> {
  const read = parseModelString(entry);
  if (!read.ok || read.model.type !== 'model') return { ok: false, why: 'it is no model' };
  const { provider: name, id } = read.model;
  // A bare id is for whoever resolves it.
  if (name === null) return { ok: true, model: entry };
  const open = directory.providers.get(name);
  if (open === undefined) return { ok: false, why: 'there is no such provider' };
  if (open.provider.missing !== null) return { ok: false, why: open.provider.missing };
  if (!open.provider.isLocal && id !== '*') return { ok: true, model: entry };
  const listing = await directory.list(open, signal);
  if (!listing.ok) return listing;
  const ids = listing.models.map((model) => model.id).filter((model) => !/embed/i.test(model));
  if (id !== '*') return fits(open, entry, id, ids);
  for (const model of ids) {
    const facts = await directory.facts(open, model, signal);
    if (lackOf(facts, needs) === null) return { ok: true, model: `${name}/${model}` };
  }
  return { ok: false, why: ids.length === 0 ? 'it has no models' : 'none of its models fits the task' };
}

function fits({ provider }: OpenProvider, entry: string, id: string, ids: readonly string[]): Tried {
  // Files need no name to be used.
  const isThere = ids.includes(id) || /\.gguf$/i.test(id);
  return isThere ? { ok: true, model: entry } : { ok: false, why: `${provider.name} does not have it` };
}

function lackOf(facts: ModelFacts, { tools, messages }: Needs): string | null {
  if ((tools?.length ?? 0) > 0 && !facts.tools) return 'it takes no tools';
  return hasImages(messages) && !facts.images ? 'it takes no images' : null;
}
