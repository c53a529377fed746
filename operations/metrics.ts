/**
 * How often commands ran in this process, how often they failed, and how long they took: of each,
 * the latest durations, from which percentiles are read. Memory is bounded; nothing is stored.
 */
import { COMMAND_BOUNDS } from './bounds.ts';

export type CommandMetric = { command: string; count: number; errors: number; p50_ms: number; p99_ms: number };

export interface Metrics {
  record(command: string, durationMs: number, isError: boolean): void;
  all(): CommandMetric[];
}

interface Entry {
  count: number;
  errors: number;
  /** The latest durations, oldest overwritten first. */
  samples: number[];
}

export function createMetrics(): Metrics {
  const entries = new Map<string, Entry>();
  return {
    record(command, durationMs, isError) {
      const entry = entries.get(command) ?? { count: 0, errors: 0, samples: [] };
      if (entry.count === 0) {
        if (entries.size >= COMMAND_BOUNDS.metricNames) return;
        entries.set(command, entry);
      }
      entry.samples[entry.count % COMMAND_BOUNDS.metricSamples] = durationMs;
      entry.count += 1;
      if (isError) entry.errors += 1;
    },
    all() {
      return [...entries].map(([command, { count, errors, samples }]) => {
        const sorted = samples.toSorted((a, b) => a - b);
        return { command, count, errors, p50_ms: percentile(sorted, 0.5), p99_ms: percentile(sorted, 0.99) };
      });
    },
  };
}

/** Nearest rank, to a thousandth of a millisecond. */
function percentile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return Math.round(value * 1000) / 1000;
}

/** The recorder of this process: one worker, one set of numbers. */
export const processMetrics = createMetrics();
