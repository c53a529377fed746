/**
 * How a step names its model: `auto`; an id (`claude-opus-4-6`); an id of a provider
 * (`ollama/llama3.1:8b`, `local/./tiny.gguf`); either with adapters behind `+`, each a path, a layer's
 * name or `PERSONA-genome`, and `@0.5` behind one for its scale. A `+` that belongs to a path is written
 * `%2B`. References are put in before this is read.
 */
export interface ModelName {
  type: 'model';
  /** Null: whoever resolves it finds out. */
  provider: string | null;
  id: string;
  adapters: AdapterName[];
}

export type AdapterName =
  /** Of a LoRA in GGUF; relative ones start at the project. */
  | { type: 'path'; path: string; scale: number }
  | { type: 'layer'; name: string; scale: number }
  /** The layers of a persona that are active when the turn starts. */
  | { type: 'genome'; persona: string; scale: number };

export type ModelString =
  | { type: 'auto' }
  /** Holds references that are not put in yet. */
  | { type: 'reference' }
  | ModelName;

export type ReadModelString = { ok: true; model: ModelString } | { ok: false; problem: string };

export const MODEL_LENGTH_MAX = 1000;
export const ADAPTERS_MAX = 16;
const SCALE_MAX = 100;

export function parseModelString(given: string): ReadModelString {
  const text = given.trim();
  if (text === '') return bad('it is empty; write "auto", an id, or "provider/id"');
  if (text.length > MODEL_LENGTH_MAX) return bad(`it has more than ${MODEL_LENGTH_MAX} characters`);
  if (/\$|\{\{/.test(text)) return { ok: true, model: { type: 'reference' } };
  if (/\s/.test(text)) return bad(`"${text}" holds a space, which no model has`);
  const [base = '', ...adapters] = text.split('+').map((part) => part.replaceAll(/%2B/gi, '+'));
  if (base === '') return bad(`"${text}" names no model before its first "+"`);
  if (base === 'auto') {
    if (adapters.length > 0) return bad('"auto" takes no adapters, because they belong to one model; name that model');
    return { ok: true, model: { type: 'auto' } };
  }
  if (adapters.length > ADAPTERS_MAX) return bad(`it has more than ${ADAPTERS_MAX} adapters`);
  const named = baseOf(base);
  if (named === null) return bad(`"${base}" names a provider and no model; write "provider/id"`);
  const read = adapters.map((adapter) => readAdapter(adapter));
  const problem = read.find((adapter) => typeof adapter === 'string');
  if (problem !== undefined) return bad(problem);
  return {
    ok: true,
    model: { type: 'model', ...named, adapters: read.filter((adapter) => typeof adapter !== 'string') },
  };
}

const escaped = (part: string): string => part.replaceAll('+', '%2B');

/** The text of a model, as it is read again to the same. */
export function modelText({ provider, id, adapters }: ModelName): string {
  const base = provider === null ? id : `${provider}/${id}`;
  return [escaped(base), ...adapters.map((adapter) => escaped(adapterText(adapter)))].join('+');
}

function adapterText(adapter: AdapterName): string {
  const scale = adapter.scale === 1 ? '' : `@${adapter.scale}`;
  switch (adapter.type) {
    case 'path':
      return `${adapter.path}${scale}`;
    case 'layer':
      return `${adapter.name}${scale}`;
    case 'genome':
      return `${adapter.persona}-genome${scale}`;
    default:
      return adapter satisfies never;
  }
}

const bad = (problem: string): ReadModelString => ({ ok: false, problem });

function baseOf(base: string): Pick<ModelName, 'provider' | 'id'> | null {
  // A path is a model of its own, whatever stands before its first slash.
  if (/^\.{0,2}\//.test(base)) return { provider: 'local', id: base };
  const at = base.indexOf('/');
  if (at < 0) return /\.gguf$/i.test(base) ? { provider: 'local', id: `./${base}` } : { provider: null, id: base };
  const [provider, id] = [base.slice(0, at), base.slice(at + 1)];
  if (id === '') return null;
  return { provider, id };
}

/** `@0.5` behind a name; undefined where there is none. */
export function scaledName(text: string): { name: string; scale: number | undefined } {
  const [, name = text, number] = /^(.*?)(?:@(-?\d+(?:\.\d+)?))?$/.exec(text) ?? [];
  return { name, scale: number === undefined ? undefined : Number(number) };
}

function readAdapter(text: string): AdapterName | string {
  const { name, scale = 1 } = scaledName(text);
  if (name === '') return 'an adapter behind "+" is empty; write a path, the name of a layer, or PERSONA-genome';
  if (Math.abs(scale) > SCALE_MAX) return `the scale of "${name}" is ${scale}; write one up to ${SCALE_MAX}`;
  if (/[/\\]|\.gguf$/i.test(name)) return { type: 'path', path: name, scale };
  const [, persona] = /^(.+)-genome$/.exec(name) ?? [];
  return persona === undefined ? { type: 'layer', name, scale } : { type: 'genome', persona, scale };
}
