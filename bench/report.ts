/** Rows of the table: what was measured, what is allowed, and the verdict. A row without a limit informs. */
import { defined } from '../language/defined.ts';

export interface Row {
  name: string;
  measured: string;
  /** As printed, e.g. `<= 1.05 x`; empty for rows that inform. */
  limit: string;
  verdict: 'ok' | 'missed' | 'info' | 'skipped';
  /** How it was measured, where that is not obvious. */
  note?: string;
}

export interface Bound {
  value: number;
  unit: string;
  atMost?: number;
  atLeast?: number;
  note?: string;
}

export function bounded(name: string, { value, unit, atMost, atLeast, note }: Bound): Row {
  const isMissed =
    !Number.isFinite(value) || (atMost !== undefined && value > atMost) || (atLeast !== undefined && value < atLeast);
  const limit = atMost !== undefined ? `<= ${atMost} ${unit}` : atLeast !== undefined ? `>= ${atLeast} ${unit}` : '';
  const verdict = limit === '' ? 'info' : isMissed ? 'missed' : 'ok';
  return { name, measured: `${format(value)} ${unit}`, limit, verdict, ...defined({ note }) };
}

export function informed(name: string, measured: string, note?: string): Row {
  return { name, measured, limit: '', verdict: 'info', ...defined({ note }) };
}

export function skipped(name: string, why: string): Row {
  return { name, measured: '-', limit: '', verdict: 'skipped', note: why };
}

function format(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(3);
}

/** As short as its neighbours in a row of figures. */
export const shown = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  return Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0);
};

export function table(rows: readonly Row[]): string {
  const width = (pick: (row: Row) => string): number => Math.max(0, ...rows.map((row) => pick(row).length));
  const [name, measured, limit] = [width((row) => row.name), width((row) => row.measured), width((row) => row.limit)];
  const lines = rows.map((row) => {
    const cells = [
      row.name.padEnd(name),
      row.measured.padStart(measured),
      row.limit.padStart(limit),
      row.verdict.padEnd(7),
    ];
    return `${cells.join('  ')}${row.note === undefined ? '' : `  ${row.note}`}`;
  });
  return lines.map((line) => line.trimEnd()).join('\n');
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);
