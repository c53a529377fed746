/** Problems with the place in the text that they are about. */
import type { Problem } from '../../problems.ts';

/** Where in the text the author's paths stand; a path that is not there is found at what holds it. */
export type PlaceOf = (paths: readonly string[]) => ReadonlyMap<string, number>;

export type DefinitionText =
  | { ok: true; value: unknown; problems: Problem[]; placeOf: PlaceOf }
  /** `at`: where the text stops being what it should be, where that is known. */
  | { ok: false; problem: Problem; at?: number };

/** More than these are not looked for: whoever has so many begins with the first. */
const placedMax = 200;
/** Characters of a line that are shown. */
const sourceMax = 160;

export function placed(problems: readonly Problem[], text: string, placeOf: PlaceOf): Problem[] {
  if (problems.length === 0) return [];
  const paths = [...new Set(problems.map(({ path }) => path))].slice(0, placedMax);
  const places = placeOf(paths);
  return problems.map((problem, index) => {
    if (problem.line !== undefined || problem.file !== undefined) return problem;
    const at = index < placedMax ? places.get(problem.path) : undefined;
    return at === undefined ? problem : placedAt(problem, text, at);
  });
}

export function placedAt(problem: Problem, text: string, at: number): Problem {
  const begin = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const source = shown(text.slice(begin, end === -1 ? text.length : end), at - begin);
  return {
    ...problem,
    line: lineAt(text, at),
    column: at - begin + (begin === 0 && text.startsWith('\uFEFF') ? 0 : 1),
    source,
  };
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line += 1;
  return line;
}

/** Of a long line the part around the place. */
function shown(line: string, at: number): string {
  const clean = line.replace(/^\uFEFF/, '').trimEnd();
  if (clean.length <= sourceMax) return clean;
  const from = Math.max(0, Math.min(at - sourceMax / 2, clean.length - sourceMax));
  return `${from === 0 ? '' : '…'}${clean.slice(from, from + sourceMax)}${from + sourceMax < clean.length ? '…' : ''}`;
}
