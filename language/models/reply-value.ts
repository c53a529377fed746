/** What a model's text stands for: the value where it is JSON, bare or in one fence; else the text itself. */
import { readJson } from '../expression/json-text.ts';
import type { Json } from '../json.ts';
import { valueBytesMax } from '../limits.ts';
import { fencesIn } from './fences.ts';

export function replyValue(text: string): Json {
  if (text.length > valueBytesMax) return text;
  const bare = readJson(text.trim(), 'nearest');
  if (bare !== undefined) return bare;
  const fences = fencesIn(text);
  const [only, ...others] = fences.length === 1 ? fences : fences.filter(({ word }) => /^json/i.test(word));
  if (only === undefined || others.length > 0) return text;
  const { whole, word, body } = only;
  const isAll = text.trim() === whole.trim();
  // Code in some other language may read as JSON by chance; beside words of prose only a fence that says so counts.
  if (word === '' ? !isAll && !/^\s*[[{]/.test(body) : !/^json/i.test(word)) return text;
  return readJson(body.trim(), 'nearest') ?? text;
}
