/** Where paths of problems stand in a JSON text: only what leads to one of them is followed. */
import { WantedPaths } from './wanted-paths.ts';

interface Open {
  /** Undefined where no path that is looked for leads through it. */
  path: string | undefined;
  isList: boolean;
  key: string | undefined;
  index: number;
}

const PART = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/g;

/** The text has been parsed, so it is known to be JSON. */
export function placesInJson(text: string, paths: readonly string[]): Map<string, number> {
  const wanted = new WantedPaths(paths);
  const open: Open[] = [];
  let label: { at: number; text: string } | undefined;
  PART.lastIndex = 0;
  for (let found = PART.exec(text); found !== null && wanted.left > 0; found = PART.exec(text)) {
    const [part] = found;
    const at = open.at(-1);
    if (part === '}' || part === ']') open.pop();
    else if (part === ',' && at !== undefined) {
      at.index += 1;
      at.key = undefined;
    } else if (part === ':' && at !== undefined && label !== undefined) {
      at.key = JSON.parse(label.text) as string;
      wanted.found(pathIn(at, wanted), label.at);
    } else {
      const isKey = at !== undefined && !at.isList && at.key === undefined;
      if (isKey) label = { at: found.index, text: part };
      else {
        const path = at === undefined ? '' : pathIn(at, wanted);
        if (at === undefined || at.isList) wanted.found(path, found.index);
        if (part === '{' || part === '[') open.push({ path, isList: part === '[', key: undefined, index: 0 });
      }
    }
  }
  return wanted.places();
}

function pathIn({ path, isList, key, index }: Open, wanted: WantedPaths): string | undefined {
  return path === undefined ? undefined : wanted.child(path, isList ? String(index) : (key ?? ''));
}
