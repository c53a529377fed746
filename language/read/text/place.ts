/** Places in a text as an editor shows them. */

const LINE_END = 10;

/** To be asked for in the order of the text, so that no line is counted twice. */
export function placesIn(source: string): (at: number) => string {
  // An editor does not show the mark of the encoding.
  let last = { at: 0, line: 1, begin: source.startsWith('\uFEFF') ? 1 : 0 };
  return (at) => {
    // Counted in variables of this call, which is quicker than in those around it.
    let { line, begin } = last;
    for (let here = last.at; here < at; here += 1) {
      if (source.charCodeAt(here) !== LINE_END) continue;
      line += 1;
      begin = here + 1;
    }
    last = { at, line, begin };
    return `line ${line}, column ${at - begin + 1}`;
  };
}

/** The path of what stands under a key. */
export const pathTo = (path: string, key: string | number): string => (path === '' ? String(key) : `${path}.${key}`);
