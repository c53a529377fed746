/** What to write in place of a value of the wrong type, by the key it stands under: what its author may have meant. */
import type { Catalogue } from '../../catalogue.ts';
import { isPlain } from '../draft/draft.ts';
import { stepForText, stepsForText, type Remedy } from './text-for-step.ts';
import { defined } from '../../defined.ts';

const LISTS: ReadonlySet<string> = new Set(['steps', 'then', 'else', 'always', 'branches']);

const ONE_TRIGGER =
  'a definition has one trigger: an event pattern may match several names ("git:*"), and further definitions with a trigger of their own may hold {"type": "sentinel", "definition": {"$ref": "NAME"}}';

/** What the author of such a value may have meant. */
export function remedyForValue(path: readonly string[], value: unknown, catalogue: Catalogue): Remedy {
  const key = path.at(-1) ?? '';
  if (path[0] === 'trigger' && Array.isArray(value))
    return { words: `: ${value.length === 0 ? 'remove it where a person starts the run' : ONE_TRIGGER}` };
  if (key.endsWith('Ms') && value !== undefined) return { words: ', or a time such as "90s", "5m" or "1h30m"' };
  if (LISTS.has(key) && isPlain(value)) return { words: ': write a list, and what names a member as its "name"' };
  const isBranch = path.at(-2) === 'branches';
  if (typeof value !== 'string' || !(isBranch || LISTS.has(key))) return ofKey(key, path, value);
  const { words, fix } = isBranch ? stepForText(value, catalogue) : stepsForText(value, catalogue);
  return { words: `: ${words}`, ...defined({ fix }) };
}

/** Where any value of the wrong type is answered with the same words. */
const SAYINGS: Readonly<Record<string, string>> = {
  onError: 'with "skip" the run goes on, and a condition step after this one can check {{named.NAME.error}}',
  inputs: 'write {"NAME": value}, with the value that each begins with',
  outputs: 'write {"NAME": value}, such as {"total": "$sum"}',
  check: 'an expression is text, such as "$a > 1 && $b.success"',
  prompt: 'write one text; what the model is told about its task is "system"',
  model: 'write "PROVIDER/MODEL"',
  retry: 'write a number of attempts, or "onError": "retry" for three',
  trigger: 'write "manual", an event such as "git:push", or a schedule such as "0 3 * * *"',
  budget: 'write {"usd": 5}, or "steps", "tokens", "wallMs"',
  safety: 'write {"maxIterations": 10} or {"timeoutMs": 600000}; what a run may touch is its "mode"',
  escalateOn: 'write [{"condition": "error", "action": "pause"}]',
  rules: 'write [{"pattern": "error", "classification": "error"}]',
};

/** Where it depends on what stands around the key. */
const OF_KEYS: Readonly<Record<string, string>> = {
  concurrency: 'write {"group": "deploy-$target"}, or the name of the group as text',
  'trigger.filter': 'an expression is text, such as "$event.branch === \'main\'"',
};

function ofKey(key: string, path: readonly string[], value: unknown): Remedy {
  const saying = SAYINGS[key] ?? OF_KEYS[path.join('.')];
  if (saying !== undefined) return { words: `: ${saying}` };
  if (path.at(-2) === 'tools') return { words: ': write the name of a command' };
  if (key === 'event' && Array.isArray(value))
    return { words: ': write one; where events are waited for, a pattern may match several names ("git:*")' };
  if (key === 'env')
    return {
      words: isPlain(value)
        ? ': it lists the names that {{env.NAME}} may read; values are the "env" of a shell step'
        : ': write {"NAME": "value"}',
    };
  if (key === 'params')
    return {
      words: `: parameters have names, such as {"path": ${JSON.stringify(typeof value === 'string' ? value.slice(0, 80) : 'a.txt')}}`,
    };
  if (key === 'command' && Array.isArray(value)) return forWords(value);
  if (key === 'args')
    return typeof value === 'string'
      ? fixed(`write ${listed(value.trim().split(/\s+/))}`)
      : { words: ': write a list, such as ["--name", "value"]' };
  return key === 'loop' ? forLoop(value) : { words: '' };
}

function fixed(fix: string): Remedy {
  return fix.length > 200 ? { words: '' } : { words: `: ${fix}`, fix };
}

const listed = (words: readonly string[]): string => `[${words.map((word) => JSON.stringify(word)).join(', ')}]`;

/** A program and its arguments, or several lines. */
function forWords(value: unknown[]): Remedy {
  const words = value.filter((word) => typeof word === 'string');
  const [program, ...args] = words;
  if (program === undefined || words.length < value.length) return { words: '' };
  if (words.some((word) => /\s/.test(word.trim()))) return fixed(`write ${JSON.stringify(words.join(' && '))}`);
  return fixed(`write ${JSON.stringify(program)}${args.length === 0 ? '' : `, and "args": ${listed(args)}`}`);
}

function forLoop(value: unknown): Remedy {
  const [, type, check] = (typeof value === 'string' ? /^\s*(until|while)\s+(\S.*)$/i.exec(value) : null) ?? [];
  if (type !== undefined) return fixed(`write {"type": "${type.toLowerCase()}", "check": ${JSON.stringify(check)}}`);
  return { words: ': write {"type": "until", "check": "…", "maxIterations": 10}, or a number of passes' };
}
