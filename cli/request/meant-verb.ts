/** The verb that somebody meant: by what other tools call it, or by its letters. */
import { nearestOf } from '../../client/nearest.ts';

/** Words for one thing. */
const SAME: readonly (readonly string[])[] = [
  ['follow', 'watch', 'tail', 'attach'],
  ['list', 'ls', 'ps', 'runs'],
  ['cancel', 'kill', 'abort', 'terminate'],
  ['run', 'start', 'exec', 'execute', 'launch'],
  ['validate', 'check', 'lint', 'verify'],
  ['init', 'new', 'create'],
  ['create', 'add', 'new'],
  ['delete', 'remove', 'rm', 'del'],
  ['show', 'status', 'describe', 'get', 'info', 'inspect'],
  ['up', 'serve'],
  ['down', 'shutdown'],
  ['web', 'ui', 'dashboard'],
  ['trace', 'history'],
  ['retry', 'rerun', 'restart'],
  ['answer', 'approve', 'reject'],
  ['schedule', 'cron'],
];

/** Words that lead on to it; empty where nothing can have been meant. */
export function meantVerb(given: string, names: readonly string[]): string {
  const known = SAME.filter((words) => words.includes(given)).flatMap((words) =>
    words.filter((word) => names.includes(word)),
  );
  return nearestOf(known[0] ?? given, names, (name) => `write "${name}", or `);
}
