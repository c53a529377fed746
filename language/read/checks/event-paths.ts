/**
 * Paths of changed files: `$event.path` is relative to the project, so what begins with "/" is not found at its start.
 * `$event.path.replace('/src/', '/docs/')` leaves `src/a.ts` as it is.
 */
import type { Problem } from '../../problems.ts';
import { isPlain, join, type Origins } from '../draft/draft.ts';
import type { DefinitionSite, Place, Sites } from '../inventory/sites.ts';

export function checkEventPaths(sites: Sites, origins: Origins): Problem[] {
  return sites.steps.flatMap(({ step, path, place }) =>
    waitsForFiles(place)
      ? Object.entries(step).flatMap(([key, value]) =>
          // The steps inside have sites of their own.
          isOwn(key) ? problemsIn(value, origins.locate(step, path, [key])) : [],
        )
      : [],
  );
}

const INSIDE: ReadonlySet<string> = new Set(['then', 'else', 'always', 'steps', 'branches', 'definition', 'loop']);
const isOwn = (key: string): boolean => !INSIDE.has(key);

/** A nested sentinel sees the event of the run around it. */
function waitsForFiles({ definition, loops }: Place): boolean {
  if (loops.some(({ loop }) => loop.type === 'event' && isOfFiles(loop.event))) return true;
  for (let at: DefinitionSite | undefined = definition; at !== undefined; at = at.parent?.definition) {
    const { trigger, loop } = at.value;
    for (const one of [trigger, loop])
      if (isPlain(one) && one['type'] === 'event' && isOfFiles(one['event'])) return true;
  }
  return false;
}

const isOfFiles = (event: unknown): boolean => typeof event === 'string' && event.startsWith('file:');

const SOUGHT = /\bevent\.path((?:\.\w+\([^()]*\))*)\.(replace|replaceAll|startsWith)\(\s*(['"`])(\/[^'"`]+)\3/g;

function problemsIn(value: unknown, at: string): Problem[] {
  if (typeof value === 'string')
    return Array.from(value.matchAll(SOUGHT), ([, , method = '', , sought = '']) => problem(at, method, sought));
  if (!Array.isArray(value) && !isPlain(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => problemsIn(inner, join(at, key)));
}

function problem(path: string, method: string, sought: string): Problem {
  const fix = `write ${method}('${sought.slice(1)}', …), or read $event.absolutePath`;
  const message = `$event.path is relative to the project ("src/a.ts"), so ${method}('${sought}', …) does not find it at the start; ${fix}`;
  return { code: 'RELATIVE_PATH', severity: 'warning', path, message, fix };
}
