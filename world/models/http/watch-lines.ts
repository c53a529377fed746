/** Checks a stream of JSON lines beside its reader, which only logs a line that it cannot read. */
import type { TurnError } from '../port/turn-failure.ts';

export function watchLines(broken: (line: string) => TurnError): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest = '';
  return (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '' && !isObject(line)) throw broken(line);
  };
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
