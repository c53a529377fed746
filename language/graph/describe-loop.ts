/** A loop in a few words, for graphs and explanations. */
import type { LoopConfig } from '../model.ts';

export function describeLoop(loop: LoopConfig): string {
  const bounds = boundsOf(loop);
  return bounds.length === 0 ? headOf(loop) : `${headOf(loop)}, ${bounds.join(', ')}`;
}

function headOf(loop: LoopConfig): string {
  switch (loop.type) {
    case 'once':
      return 'once';
    case 'count':
      return loop.over === undefined
        ? passes(loop.max)
        : `for each of ${loop.over}${loop.as === undefined ? '' : ` as ${loop.as}`}`;
    case 'until':
      return `until ${loop.check}`;
    case 'while':
      return `while ${loop.check}`;
    case 'continuous':
      return loop.intervalMs === undefined ? 'again and again' : `every ${durationWords(loop.intervalMs)}`;
    case 'event':
      return `on each ${loop.event}`;
    default:
      return loop satisfies never;
  }
}

function boundsOf(loop: LoopConfig): string[] {
  if (loop.type === 'once') return [];
  const bounds: string[] = [];
  if (loop.max !== undefined && loop.type !== 'count') bounds.push(`at most ${passes(loop.max)}`);
  if (loop.maxIterations !== undefined) bounds.push(`at most ${passes(loop.maxIterations)}`);
  if (loop.timeoutMs !== undefined) bounds.push(`for at most ${durationWords(loop.timeoutMs)}`);
  return bounds;
}

function passes(count: number | string): string {
  return typeof count === 'string' ? `${count} passes` : `${count} ${count === 1 ? 'pass' : 'passes'}`;
}

const UNITS: ReadonlyArray<readonly [number, string]> = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];

/** The largest unit that divides it, so that nothing is rounded: 90,000 ms is 90 seconds. */
export function durationWords(ms: number): string {
  const [size, unit] = UNITS.find(([unitMs]) => ms >= unitMs && ms % unitMs === 0) ?? [1, 'ms'];
  const count = ms / size;
  return unit === 'ms' ? `${count} ms` : `${count} ${unit}${count === 1 ? '' : 's'}`;
}
