/** From a step's model string to a provider, a model and its adapters. Never silently another model. */
import { modelText, parseModelString, type ModelName } from '../../../language/models/model-string.ts';
import { Failure } from '../../failures/failures.ts';
import { isPath } from '../local/registry.ts';
import { TurnError } from '../port/turn-failure.ts';
import type { Adapter } from '../port/turn.ts';
import type { ModelFacts } from '../records/facts.ts';
import { kindOf } from '../records/table.ts';
import { findAdapters, type LayerResolver } from './adapters.ts';
import type { ModelDirectory, OpenProvider } from './directory.ts';
import { routeFor, type Needs } from './route.ts';

export interface ResolvedModel {
  /** `provider/model` with adapters: what a transcript keeps. */
  name: string;
  provider: OpenProvider;
  /** As the provider knows it. */
  model: string;
  adapters: Adapter[];
  facts: ModelFacts;
  /** Why it is this one, where the step did not say so itself: a route, an alias; null otherwise. */
  reason: string | null;
  /** What somebody should know: the provider retires it. */
  notices: string[];
}

export interface AskedAt {
  /** Of the run: where relative paths start. */
  project: string;
  /** The run that asks. Absent: none does. */
  run?: string | undefined;
  /** A model chose the name, which then means no file: what is in one is read outside of every sandbox. */
  byModel?: boolean | undefined;
  /** Who knows what the names behind `+` mean that are no files. Absent: nobody does. */
  layers?: LayerResolver;
  signal: AbortSignal;
}

export interface ResolveParts extends AskedAt {
  directory: ModelDirectory;
  /** `YYYY-MM-DD`. */
  today: string;
}

const ALIASES_MAX = 8;

/** How to get a model, where there is none. */
export const NO_MODEL = `No model is configured. Get one in one of these ways:
  local: sentinel models add PATH.gguf, or start Ollama and run sentinel models pull ollama/qwen3:8b
  hosted: set ANTHROPIC_API_KEY or OPENAI_API_KEY (OPENAI_BASE_URL for another server), and run sentinel up`;

/** Rejects with a `TurnError`, or with the signal's reason. */
export async function resolveModel(asked: string, needs: Needs, parts: ResolveParts): Promise<ResolvedModel> {
  const { directory, signal } = parts;
  const given = read(asked);
  const route = given === 'auto' ? await routeFor(needs, directory, signal) : null;
  if (route?.model === null && route.isAway) throw new TurnError({ kind: 'network' }, route.reason);
  if (route?.model === null)
    throw new TurnError({ kind: 'model-not-found', retired: false }, `${NO_MODEL}\n(${route.reason})`);
  if (parts.byModel === true && given !== 'auto') refuseFiles(asked, given, directory);
  const routed = given === 'auto' ? read(route?.model ?? '') : given;
  if (routed === 'auto') throw unusable('a route names "auto", which is what it should say; name a model');
  const { name, hops } = throughAliases(routed, directory);
  const provider = await providerOf(name, directory, signal);
  const facts = await directory.facts(provider, name.id, signal);
  const adapters = await findAdapters(name.adapters, parts);
  const reason = [...(route === null ? [] : [route.reason]), ...hops].join('; ');
  return {
    name: modelText({ ...name, provider: provider.provider.name }),
    provider,
    model: name.id,
    adapters,
    facts,
    reason: reason === '' ? null : reason,
    notices: noticesOf(name.id, facts, parts.today),
  };
}

function read(text: string): ModelName | 'auto' {
  const result = parseModelString(text);
  if (!result.ok) throw unusable(result.problem);
  switch (result.model.type) {
    case 'auto':
      return 'auto';
    case 'reference':
      throw unusable(`"${text}" still holds a reference; a reference in "model" needs a value when the step starts`);
    case 'model':
      return result.model;
    default:
      return result.model satisfies never;
  }
}

/** What a name of the configuration stands for was named by a person. */
function refuseFiles(asked: string, { provider, id, adapters }: ModelName, { providers }: ModelDirectory): void {
  const found = provider === null ? undefined : providers.get(provider);
  const isFile = isPath(id) && (found === undefined || found.kind === 'local');
  if (!isFile && !adapters.some(({ type }) => type === 'path')) return;
  throw new Failure(
    'RIGHTS_EXCEEDED',
    `"${asked}" names a file, and a model chose it; no model, and no definition that one brings, names the file of a model or an adapter: give it a name ("sentinel models add", or "models.aliases" of sentinel.config)`,
  );
}

const unusable = (problem: string): TurnError =>
  new TurnError({ kind: 'bad-request', field: 'model' }, `the model cannot be used: ${problem}`);

/** Adapters stay: those of the alias come first. */
function throughAliases(asked: ModelName, { settings }: ModelDirectory): { name: ModelName; hops: string[] } {
  let name = asked;
  const hops: string[] = [];
  for (;;) {
    const base = modelText({ ...name, adapters: [] });
    const target = settings.aliases[base] ?? settings.aliases[name.id];
    if (target === undefined || target === base) return { name, hops };
    if (hops.length === ALIASES_MAX)
      throw unusable(`the aliases of "${modelText(asked)}" go round; see "models.aliases" of sentinel.config`);
    const to = read(target);
    if (to === 'auto') throw unusable(`the alias of "${base}" is "auto"; name a model`);
    hops.push(`"${base}" is an alias of "${target}"`);
    name = { ...to, adapters: [...to.adapters, ...name.adapters] };
  }
}

async function providerOf(name: ModelName, directory: ModelDirectory, signal: AbortSignal): Promise<OpenProvider> {
  const { providers } = directory;
  if (name.provider !== null) {
    const found = providers.get(name.provider);
    if (found !== undefined) return found;
    throw unusable(
      `"${name.provider}" is no provider; there are ${[...providers.keys()].join(', ')}, and "models.providers" of sentinel.config adds more (a model whose id has a slash stands behind its provider: openai/${name.provider}/${name.id})`,
    );
  }
  return (await whoHas(name.id, directory, signal)) ?? likely(name.id, directory);
}

/** A model on the user's own hardware goes before a name that only looks like another's. */
async function whoHas(id: string, directory: ModelDirectory, signal: AbortSignal): Promise<OpenProvider | undefined> {
  const listed = [...directory.providers.values()].filter(({ provider }) => provider.isListed);
  for (const open of listed.toSorted((a, b) => Number(b.provider.isLocal) - Number(a.provider.isLocal))) {
    // An id of Anthropic's or OpenAI's own is theirs without asking around.
    if (open.kind !== 'local' && ['anthropic', 'openai'].includes(kindOf(id) ?? '')) continue;
    const listing = await directory.list(open, signal);
    if (listing.ok && listing.models.some((model) => model.id === id || model.id === `${id}:latest`)) return open;
  }
  return undefined;
}

function likely(id: string, { providers }: ModelDirectory): OpenProvider {
  const kind = kindOf(id);
  const found = kind === null ? undefined : providers.get(kind);
  if (found !== undefined) return found;
  throw new TurnError(
    { kind: 'model-not-found', retired: false },
    `"${id}" is no model that can be found; write it with its provider ("ollama/${id}"), see "sentinel models", or give it an entry in "models.aliases" of sentinel.config`,
  );
}

function noticesOf(id: string, { retires }: ModelFacts, today: string): string[] {
  if (retires === null) return [];
  const verb = retires.on <= today ? 'was to be retired' : 'will be retired';
  const advice = retires.instead === null ? '' : `; the provider recommends "${retires.instead}"`;
  return [`"${id}" ${verb} on ${retires.on}${advice}`];
}
