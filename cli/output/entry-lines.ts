/** What was found of each part of Sentinel, as a table for people, with what to do under it. */
import type { DoctorEntry } from '../../services/inspect-services.ts';
import type { Paint } from '../../client/show/paint.ts';
import { table } from './table.ts';

export function entryLines(entries: readonly DoctorEntry[], paint: Paint): string[] {
  const { good, bad, strong } = paint;
  const rows = entries.map(({ name, ok, found, where, version, port }) => [
    ok ? good('✔') : bad('✖'),
    strong(name),
    version ?? '',
    port === undefined ? '' : String(port),
    found,
    where ?? '',
  ]);
  const remedies = entries.flatMap(({ name, remedy }) => (remedy === undefined ? [] : [`${bad(name)}: ${remedy}`]));
  return [...table(['', 'PART', 'VERSION', 'PORT', 'FOUND', 'WHERE'], rows, paint), ...remedies];
}
