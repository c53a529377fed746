/** The forms that a definition is written in (JSON, with comments or without, and YAML), read to one value. */
import { readJsonText } from './json-text.ts';
import { placesInJson } from './json-places.ts';
import { silentChanges } from './silent-changes.ts';
import { withoutComments, withoutLastCommas } from './comments.ts';
import type { DefinitionText } from './placed-problems.ts';
import { readYaml } from './yaml-text.ts';

export type Format = 'json' | 'jsonc' | 'yaml';

export function readDefinitionText(text: string, format: Format): DefinitionText {
  if (format === 'yaml') return readYaml(text);
  const read = readJsonText(text);
  if (read.ok) return inJson(text, read.value);
  const plain = format === 'jsonc' ? withoutLastCommas(withoutComments(text)) : withoutComments(text);
  const again = plain === text ? read : readJsonText(plain);
  return again.ok ? inJson(plain, again.value) : again;
}

function inJson(text: string, value: unknown): DefinitionText {
  return { ok: true, value, problems: silentChanges(text), placeOf: (paths) => placesInJson(text, paths) };
}

/** What a file holds, by the end of its name. */
export function formatOf(file: string): Format {
  if (/\.ya?ml$/i.test(file)) return 'yaml';
  return /\.jsonc$/i.test(file) ? 'jsonc' : 'json';
}

/** How files of definitions may end. */
export const DEFINITION_ENDINGS = ['.json', '.jsonc', '.yaml', '.yml'] as const;

/** What a file that stands beside definitions is, by its name; null when it may well be one. */
export function otherThan(file: string): string | null {
  if (file.endsWith('.sentinel-test.json')) return 'a test of a definition, which "sentinel test" runs';
  return file.endsWith('.schema.json') ? 'a JSON Schema' : null;
}

/** What an export of a saved sentinel says that it is. */
export const EXPORT_FORMAT = 'sentinel-export';

/** By its beginning, which its canonical form decides. */
export const isExportText = (text: string): boolean => text.startsWith(`{"format":"${EXPORT_FORMAT}",`);

/** By its ending alone. */
export function isDefinitionFile(file: string): boolean {
  return DEFINITION_ENDINGS.some((ending) => file.endsWith(ending));
}
