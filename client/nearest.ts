import { closest, distance } from 'fastest-levenshtein';

/** Text about the nearest of the names; empty when none is near. */
export function nearestOf(word: string, names: readonly string[], say: (name: string) => string): string {
  if (names.length === 0) return '';
  const name = closest(word, [...names]);
  return distance(word, name) <= Math.max(2, Math.floor(name.length / 2)) ? say(name) : '';
}
