/** A list of things to do, as lines of text: `[ ] buy milk`, `[x] call Ada`. */
export function parse(text) {
  return text
    .split('\n')
    .filter((line) => /^\[[ x]\] /.test(line))
    .map((line) => ({ done: line[1] === 'x', what: line.slice(4) }));
}

export function print(items) {
  return items.map(({ done, what }) => `[${done ? 'x' : ' '}] ${what}\n`).join('');
}

export const open = (items) => items.filter(({ done }) => !done);
